/** What happens to a conversation that has become as long as the context. */
import { generate } from '../generation/generate.ts'
import type { Prompt, TokenSession } from '../generation/token-session.ts'
import { createAbortError } from '../shared/abort.ts'
import { resolveGenerationOptions } from './generation-options.ts'
import type { LoadedModel } from './loaded-model.ts'
import { planTrimming } from './trim-turns.ts'
import { describeTurn, type EncodedTurn, textOf, textOnlyTurn } from './turn.ts'
import type { ChatEvent, WhenFull } from './types.ts'

/** Share of the context that is filled after turns were dropped, so that not every answer drops some. */
const TARGET_SHARE = 0.75
/** Share of the context that must be free for an answer to begin, unless it may not become so long. */
const ANSWER_SHARE = 1 / 8
/** Longest summary, as a share of the context and in tokens. */
const SUMMARY_SHARE = 1 / 8
const MAX_SUMMARY_TOKENS = 256

const SUMMARY_REQUEST =
  'Summarise our conversation so far in a few sentences, in the language we speak. Keep names, numbers and what the pictures show.'
const SUMMARY_HEADING = 'Earlier in this conversation:'

export interface FitRequest {
  readonly loaded: LoadedModel
  readonly session: TokenSession
  readonly whenFull: WhenFull
  /** End with the question. */
  readonly turns: readonly EncodedTurn[]
  readonly compose: (turns: readonly EncodedTurn[]) => Prompt
  /** The beginning of the answer, where it has begun. */
  readonly answer: readonly number[]
  /** Most tokens that may still follow. */
  readonly maxTokens: number
  readonly signal: AbortSignal | undefined
}

export interface FittedContext {
  readonly turns: readonly EncodedTurn[]
  /** Of these turns, with the beginning of the answer. */
  readonly prompt: Prompt
  /** What was left out. */
  readonly trimmed?: Extract<ChatEvent, { type: 'context-trimmed' }>
}

/**
 * The conversation, shortened by what `whenFull` says if it leaves too little room for the answer. Where that does not
 * help, it stays as long as it is. Rejects with an `AbortError`.
 */
export async function fitContext(request: FitRequest): Promise<FittedContext> {
  const { loaded, whenFull, turns, answer, maxTokens } = request
  const { contextLength } = loaded
  const compose = (some: readonly EncodedTurn[]): Prompt => continued(request.compose(some), answer)
  const prompt = compose(turns)
  const answerRoom = Math.min(maxTokens, Math.floor(contextLength * ANSWER_SHARE))
  if (whenFull === 'stop' || prompt.ids.length + answerRoom <= contextLength) return { turns, prompt }
  const trimming = planTrimming(turns)
  if (trimming.stepCount === 0) return { turns, prompt }
  const summaryRoom = whenFull === 'summarise' ? summaryTokens(contextLength) : 0
  const goals = [Math.floor(contextLength * TARGET_SHARE), contextLength - answerRoom].map(
    (goal) => goal - summaryRoom,
  )
  const steps = chooseSteps(trimming.stepCount, goals, (count) => compose(trimming.apply(count)).ids.length)
  const dropped = trimming.dropped(steps)
  const kept = trimming.apply(steps)
  const shorter = compose(kept)
  if (shorter.ids.length >= contextLength) return { turns, prompt }
  const describe = (some: readonly EncodedTurn[], fitted: Prompt, summary?: string): FittedContext => ({
    turns: some,
    prompt: fitted,
    trimmed: {
      type: 'context-trimmed',
      droppedTurns: dropped.map(describeTurn),
      droppedImages: countPictures(turns) - countPictures(some),
      promptTokens: fitted.ids.length,
      ...(summary !== undefined && { summary }),
    },
  })
  const summary = summaryRoom > 0 ? await summarise(request, dropped, summaryRoom) : ''
  if (summary !== '') {
    const summed = withSummary(kept, summary)
    const fitted = compose(summed)
    // Text of broken characters takes more tokens than it was made of.
    if (fitted.ids.length + answerRoom <= contextLength) return describe(summed, fitted, summary)
  }
  return describe(kept, shorter)
}

/** The fewest steps that reach the first goal that can be reached; all steps where none can. */
function chooseSteps(
  stepCount: number,
  goals: readonly number[],
  lengthAfter: (steps: number) => number,
): number {
  const shortest = lengthAfter(stepCount)
  const goal = goals.find((one) => shortest <= one)
  if (goal === undefined) return stepCount
  let low = 1
  let high = stepCount
  while (low < high) {
    const middle = (low + high) >> 1
    if (lengthAfter(middle) <= goal) high = middle
    else low = middle + 1
  }
  return high
}

function continued(prompt: Prompt, answer: readonly number[]): Prompt {
  return answer.length === 0 ? prompt : { ...prompt, ids: [...prompt.ids, ...answer] }
}

function countPictures(turns: readonly EncodedTurn[]): number {
  return turns.reduce((sum, { pictures }) => sum + pictures.length, 0)
}

function summaryTokens(contextLength: number): number {
  return Math.min(MAX_SUMMARY_TOKENS, Math.floor(contextLength * SUMMARY_SHARE))
}

/** What the model says of the conversation up to the last turn that goes; nothing where even that is too long. */
async function summarise(
  { loaded, session, turns, compose, signal }: FitRequest,
  dropped: readonly EncodedTurn[],
  room: number,
): Promise<string> {
  const last = dropped.at(-1)
  if (!last) return ''
  const asked = [...turns.slice(0, turns.indexOf(last) + 1), textOnlyTurn('user', SUMMARY_REQUEST)]
  const longest = loaded.contextLength - room
  const trimming = planTrimming(asked)
  const lengthAfter = (steps: number): number => compose(trimming.apply(steps)).ids.length
  const steps = lengthAfter(0) <= longest ? 0 : chooseSteps(trimming.stepCount, [longest], lengthAfter)
  const prompt = compose(trimming.apply(steps))
  if (prompt.ids.length > longest) return ''
  let summary = ''
  const { tokenizer, stopTokens } = loaded.text
  const events = generate({
    session,
    tokenizer,
    prompt,
    stopTokens,
    contextLength: loaded.contextLength,
    isContinuation: false,
    options: resolveGenerationOptions({ maxTokens: room, ...(signal && { signal }) }, {}),
  })
  for await (const event of events) {
    if (event.type !== 'prompt-progressed') summary += event.text
    if (event.type === 'ended' && event.reason === 'aborted') throw createAbortError()
  }
  return summary.trim()
}

/** The summary ends the system prompt, in place of an earlier one, which the model has read for the new one. */
function withSummary(turns: readonly EncodedTurn[], summary: string): readonly EncodedTurn[] {
  const [first, ...others] = turns
  const system = first?.message.role === 'system' ? first : undefined
  const own = system && (system.unsummarised ?? textOf(system.message))
  const text = [...(own ? [own] : []), `${SUMMARY_HEADING} ${summary}`].join('\n\n')
  const head = { ...textOnlyTurn('system', text), unsummarised: own ?? '' }
  return [head, ...(system ? others : turns)]
}
