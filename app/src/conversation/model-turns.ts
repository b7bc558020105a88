/** A conversation as models are told of it. */
import type { ChatTurn } from 'onsight'
import { answerOf, type Exchange } from './exchange.ts'

/** Questions without an answer are left out: templates take a question, then an answer. */
export function turnsOf(exchanges: readonly Exchange[]): ChatTurn[] {
  return exchanges.flatMap((exchange): ChatTurn[] => {
    const { text } = answerOf(exchange)
    if (text === '') return []
    const { prompt, pictures } = exchange.question
    return [
      {
        role: 'user',
        text: prompt,
        ...(pictures.length > 0 && { images: pictures.map(({ blob }) => blob) }),
      },
      { role: 'assistant', text },
    ]
  })
}

/** Pictures are the same when they are the same object: they are kept by reference. */
export function areSameTurns(some: readonly ChatTurn[], others: readonly ChatTurn[]): boolean {
  return some.length === others.length && some.every((turn, index) => isSameTurn(turn, others[index]))
}

function isSameTurn(one: ChatTurn, other: ChatTurn | undefined): boolean {
  if (!other || one.role !== other.role || one.text !== other.text) return false
  const [images, otherImages] = [one, other].map((turn) => (turn.role === 'user' ? (turn.images ?? []) : []))
  return (
    images?.length === otherImages?.length &&
    images?.every((image, index) => image === otherImages?.[index]) === true
  )
}
