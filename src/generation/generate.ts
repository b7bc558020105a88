/** The loop that makes an answer: sample, decode, look for an end, step. */
import { isAbortError } from '../shared/abort.ts'
import { createStopStringFilter } from '../text/stop-strings.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import { createAnswerDecoder } from './answer-decoder.ts'
import { AnswerSteps, type DraftCounts, type Speculation } from './answer-steps.ts'
import { createRepetitionGuard } from './repetition-guard.ts'
import type { ChoiceProbability } from './score-choices.ts'
import { type ChoiceOptions, TokenChooser, type TokenConstraint } from './token-choice.ts'
import type { ScoredToken } from './token-scores.ts'
import type { PrefillProgress, Prompt, TokenSession } from './token-session.ts'

export type EndReason = 'stop' | 'stop-string' | 'length' | 'repetition' | 'aborted' | 'context-full'

export interface GenerateOptions extends ChoiceOptions {
  readonly maxTokens: number
  readonly stop: readonly string[]
  /** Go on after stop tokens, and let loops run: for measuring. */
  readonly ignoreEos: boolean
  readonly speculation: Speculation
  readonly signal: AbortSignal | undefined
}

export interface GenerateRequest {
  readonly session: TokenSession
  readonly tokenizer: Tokenizer
  readonly prompt: Prompt
  readonly stopTokens: ReadonlySet<number>
  readonly contextLength: number
  /** The answer goes on in the middle of the prompt's text, so that a space before its first word belongs to it. */
  readonly isContinuation: boolean
  /** What the answer may be; it ends as soon as nothing may follow. */
  readonly constraint?: TokenConstraint | undefined
  /**
   * Called when the context is full in the middle of the answer: the prompt to go on with, shorter and ending in the
   * answer so far; undefined when there is none.
   */
  readonly makeRoom?: (answer: readonly number[]) => Promise<Prompt | undefined>
  readonly options: GenerateOptions
}

export type GenerateEvent =
  | ({ readonly type: 'prompt-progressed' } & PrefillProgress)
  | {
      readonly type: 'token'
      readonly id: number
      readonly text: string
      /** Where scores are wanted; none for stop tokens. */
      readonly score?: ScoredToken | undefined
    }
  | {
      readonly type: 'ended'
      readonly reason: EndReason
      readonly text: string
      /** Tokens that were guessed, and those of them that came. */
      readonly drafts?: DraftCounts
      /** Where the answer was one of a few. */
      readonly choices?: readonly ChoiceProbability[]
    }

/** Streams an answer. `ended` carries the text that was held back for stop strings. Aborting ends it, it never throws for that. */
export async function* generate(request: GenerateRequest): AsyncGenerator<GenerateEvent, void, undefined> {
  const { session, tokenizer, prompt, stopTokens, contextLength, isContinuation, constraint, options } =
    request
  const { signal } = options
  const chooser = new TokenChooser(options, { promptIds: prompt.ids, stopTokens, constraint })
  const decoder = createAnswerDecoder(tokenizer, prompt, isContinuation)
  const stops = createStopStringFilter(options.stop)
  const guard = createRepetitionGuard()
  const steps = new AnswerSteps(session, prompt.ids, {
    contextLength,
    speculation: options.speculation,
  })
  const answer: number[] = []
  const ended = (reason: EndReason, text: string): GenerateEvent => ({
    type: 'ended',
    reason,
    text,
    drafts: steps.counts,
  })
  const end = (reason: EndReason): GenerateEvent => {
    const { emit, stopped } = stops.push(decoder.flush())
    return ended(stopped ? 'stop-string' : reason, emit + stops.flush())
  }
  try {
    let logits = yield* prefill(session, prompt, signal)
    for (let count = 1; ; count++) {
      const { id, isStop, score } = chooser.next(logits, session.length)
      answer.push(id)
      if (isStop && !options.ignoreEos) {
        yield { type: 'token', id, text: '' }
        yield end('stop')
        return
      }
      const { emit, stopped } = stops.push(decoder.push(id))
      yield { type: 'token', id, text: emit, score }
      if (stopped) {
        yield ended('stop-string', '')
        return
      }
      if (chooser.isComplete) {
        yield end('stop')
        return
      }
      const reason = endReason(count, guard.push(id), request)
      if (reason) {
        yield end(reason)
        return
      }
      if (session.length >= contextLength) {
        const shorter = await request.makeRoom?.(answer)
        if (!shorter) {
          yield end('context-full')
          return
        }
        chooser.see(shorter.ids)
        steps.restart(shorter.ids)
        logits = yield* prefill(session, shorter, signal)
        continue
      }
      logits = await steps.next(id, signal)
    }
  } catch (error) {
    if (!isAbortError(error)) throw error
    yield end('aborted')
  }
}

async function* prefill(
  session: TokenSession,
  prompt: Prompt,
  signal: AbortSignal | undefined,
): AsyncGenerator<GenerateEvent, Float32Array, undefined> {
  const passes = session.prefill(prompt, signal)
  for (;;) {
    const { done, value } = await passes.next()
    if (done) return value
    yield { type: 'prompt-progressed', ...value }
  }
}

function endReason(count: number, loops: boolean, { options }: GenerateRequest): EndReason | undefined {
  if (options.signal?.aborted) return 'aborted'
  if (count >= options.maxTokens) return 'length'
  return loops && !options.ignoreEos ? 'repetition' : undefined
}
