/**
 * Ways to shorten a conversation, the mildest first: pictures of old turns, then whole old turns. What leads the
 * conversation, the last question and the exchange with the newest picture always stay.
 */
import { userTurn } from './chat-turn.ts'
import { type EncodedTurn, textOf } from './turn.ts'

export interface Trimming {
  readonly stepCount: number
  /** The conversation after the first `steps` steps. */
  apply(steps: number): readonly EncodedTurn[]
  /** The turns that are gone then. */
  dropped(steps: number): readonly EncodedTurn[]
}

/** Turns from a question to before the next one. */
interface Exchange {
  readonly from: number
  readonly end: number
}

/** @param turns End with the question that is being answered. */
export function planTrimming(turns: readonly EncodedTurn[]): Trimming {
  const newest = turns.findLastIndex(({ pictures }) => pictures.length > 0)
  const old = listExchanges(turns)
    .slice(0, -1)
    .filter(({ from, end }) => newest < from || newest >= end)
  const pictured = old.filter(({ from, end }) => turns.slice(from, end).some(hasPictures))
  const isWithin = (exchanges: readonly Exchange[], index: number): boolean =>
    exchanges.some(({ from, end }) => index >= from && index < end)
  const isDropped = (index: number, steps: number): boolean =>
    isWithin(old.slice(0, Math.max(0, steps - pictured.length)), index)
  return {
    stepCount: pictured.length + old.length,
    apply: (steps) =>
      turns.flatMap((turn, index) => {
        if (isDropped(index, steps)) return []
        return isWithin(pictured.slice(0, steps), index) && hasPictures(turn)
          ? [withoutPictures(turn)]
          : [turn]
      }),
    dropped: (steps) => turns.filter((_, index) => isDropped(index, steps)),
  }
}

/** How many turns lead a conversation: its system prompt. */
export function countLeading(turns: readonly EncodedTurn[]): number {
  const first = turns.findIndex(({ message }) => message.role !== 'system')
  return first < 0 ? turns.length : first
}

function listExchanges(turns: readonly EncodedTurn[]): Exchange[] {
  const lead = countLeading(turns)
  const starts = turns.flatMap(({ message }, index) =>
    index === lead || (index > lead && message.role === 'user') ? [index] : [],
  )
  return starts.map((from, index) => ({ from, end: starts[index + 1] ?? turns.length }))
}

function hasPictures({ pictures }: EncodedTurn): boolean {
  return pictures.length > 0
}

function withoutPictures({ message }: EncodedTurn): EncodedTurn {
  return { message: userTurn({ text: textOf(message) }), pictures: [] }
}
