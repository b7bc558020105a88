/** One request in the log and the metrics: written once, when its answer has ended. */
import type { AnswerFinished } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import type { RequestLogEntry } from './app-options.ts'
import { refusalOf } from './error-body.ts'
import type { Metrics } from './metrics.ts'

export class RequestRecord {
  /** Undefined for paths that do not exist. */
  route: string | undefined
  model: string | undefined
  readonly #start = performance.now()
  readonly #metrics: Metrics
  readonly #log: ((entry: RequestLogEntry) => void) | undefined
  #answer: { finished: AnswerFinished; cachedTokens: number } | undefined
  #promptTokens: number | undefined
  #error: unknown
  #isDeferred = false
  #hasEnded = false

  constructor(metrics: Metrics, log: ((entry: RequestLogEntry) => void) | undefined) {
    this.#metrics = metrics
    this.#log = log
  }

  answered(finished: AnswerFinished, cachedTokens: number): void {
    this.#answer = { finished, cachedTokens }
    this.#metrics.recordAnswer(finished.usage, cachedTokens, finished.timings.firstTokenMs / 1000)
  }

  embedded(promptTokens: number): void {
    this.#promptTokens = promptTokens
    this.#metrics.recordPrompt(promptTokens)
  }

  fail(error: unknown): void {
    this.#error = error
  }

  /** The response goes on as a stream; `end` tells when it is over. */
  defer(): void {
    this.#isDeferred = true
  }

  endUnlessDeferred(status: number): void {
    if (!this.#isDeferred) this.end(status)
  }

  /** @param status What the client saw, or would have seen had the stream not begun. */
  end(status = this.#error === undefined ? 200 : refusalOf(this.#error).status): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const durationMs = performance.now() - this.#start
    const route = this.route ?? 'other'
    this.#metrics.recordRequest(route, status, durationMs / 1000)
    this.#log?.({
      time: new Date().toISOString(),
      route,
      status,
      durationMs: Math.round(durationMs),
      ...(this.model !== undefined && { model: this.model }),
      ...(this.#promptTokens !== undefined && { promptTokens: this.#promptTokens }),
      ...(this.#answer && {
        promptTokens: this.#answer.finished.usage.promptTokens,
        cachedTokens: this.#answer.cachedTokens,
        completionTokens: this.#answer.finished.usage.completionTokens,
      }),
      ...errorFields(this.#error),
    })
  }
}

function errorFields(error: unknown): Pick<RequestLogEntry, 'error' | 'cause'> {
  if (error === undefined) return {}
  if (EngineError.isInstance(error)) return { error: `${error.code}: ${error.message}` }
  return { error: 'unexpected', cause: error }
}
