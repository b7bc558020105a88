/** From a prompt to the events of an answer. */
import { type GenerateRequest, generate } from '../generation/generate.ts'
import type { AnswerForm } from './answer-form.ts'
import { describeScore } from './describe-score.ts'
import type { LoadedModel } from './loaded-model.ts'
import type {
  AnswerFinished,
  ChatEvent,
  GenerationOptions,
  ImageReport,
  ScoredAnswerToken,
  Usage,
} from './types.ts'

export interface AnswerRequest extends GenerateRequest {
  readonly clock: AnswerClock
  /** What became of the message's pictures. */
  readonly images: readonly ImageReport[]
  /** Events that came up elsewhere while the answer was made, to be told before its next ones. */
  readonly pending: ChatEvent[]
  /** Default: whatever the model says. */
  readonly form?: AnswerForm | undefined
}

export async function* streamAnswer({
  clock,
  images,
  pending,
  form = generate,
  ...request
}: AnswerRequest): AsyncGenerator<ChatEvent, void, undefined> {
  const { prompt } = request
  const usage = {
    promptTokens: prompt.ids.length,
    imageTokens: prompt.images.reduce((sum, { rows }) => sum + rows, 0),
  }
  const ids: number[] = []
  const scored: ScoredAnswerToken[] = []
  let cachedTokens: number | undefined
  let answer = ''
  for await (const event of form(request)) {
    yield* pending.splice(0)
    if (event.type === 'prompt-progressed') {
      cachedTokens ??= usage.promptTokens - event.totalTokens
      yield event
      continue
    }
    if (event.type === 'token') {
      if (ids.length === 0) clock.firstToken()
      ids.push(event.id)
      if (event.score) {
        const token = describeScore(request.tokenizer, event.score)
        scored.push(token)
        yield { type: 'token-scored', token }
      }
    }
    answer += event.text
    if (event.text) yield { type: 'text-delta', text: event.text }
    if (event.type === 'ended') {
      const finished = clock.finish(
        answer,
        ids,
        event.reason,
        { ...usage, cachedTokens: cachedTokens ?? 0, ...event.drafts },
        images,
      )
      yield {
        ...finished,
        ...(request.options.logprobs !== undefined && { logprobs: scored }),
        ...(event.choices && { choices: event.choices }),
      }
    }
  }
}

/** Undefined for an answer of no given form. Throws `option/schema`. */
export async function findForm(
  loaded: LoadedModel,
  options: GenerationOptions,
): Promise<AnswerForm | undefined> {
  if (options.responseSchema === undefined && options.choices === undefined) return undefined
  const { createAnswerForm } = await import('./answer-form.ts')
  return createAnswerForm(loaded, options)
}

/** Times the parts of an answer. */
export class AnswerClock {
  readonly #start = performance.now()
  #pictures = this.#start
  #first: number | undefined

  picturesDone(): void {
    this.#pictures = performance.now()
  }

  firstToken(): void {
    this.#first = performance.now()
  }

  finish(
    text: string,
    tokenIds: readonly number[],
    finishReason: AnswerFinished['finishReason'],
    usage: Omit<Usage, 'completionTokens'>,
    images: readonly ImageReport[],
  ): AnswerFinished {
    const now = performance.now()
    const first = this.#first ?? now
    const seconds = (now - first) / 1000
    return {
      type: 'answer-finished',
      text,
      tokenIds,
      finishReason,
      usage: { ...usage, completionTokens: tokenIds.length },
      timings: {
        imageEncodeMs: this.#pictures - this.#start,
        prefillMs: first - this.#pictures,
        firstTokenMs: first - this.#start,
        tokensPerSecond: tokenIds.length > 1 && seconds > 0 ? (tokenIds.length - 1) / seconds : 0,
      },
      images,
    }
  }
}
