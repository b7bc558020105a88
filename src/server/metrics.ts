/** What the server has done, in the text format of Prometheus (exposition format 0.0.4). */
import type { Usage } from '../engine/types.ts'

/** Upper bounds in seconds: from a cached list to a long answer on a slow machine. */
const BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

interface Histogram {
  readonly counts: number[] // (BUCKETS.length), not cumulative
  count: number
  sum: number
}

/** A value that is read when asked for. */
export interface Gauge {
  readonly name: string
  readonly help: string
  /** With the name of a model, or without a label. */
  readonly read: () => readonly { readonly model?: string; readonly value: number }[]
}

export class Metrics {
  readonly #requests = new Map<string, { route: string; status: number; count: number }>()
  readonly #durations = new Map<string, Histogram>()
  readonly #firstTokens: Histogram = createHistogram()
  readonly #tokens = { prompt: 0, cached: 0, image: 0, completion: 0 }
  readonly #gauges: readonly Gauge[]

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges
  }

  /** @param route One of few names, not the path of the request. */
  recordRequest(route: string, status: number, seconds: number): void {
    const key = `${route} ${status}`
    const entry = this.#requests.get(key) ?? { route, status, count: 0 }
    entry.count++
    this.#requests.set(key, entry)
    const histogram = this.#durations.get(route) ?? createHistogram()
    this.#durations.set(route, histogram)
    observe(histogram, seconds)
  }

  recordAnswer(usage: Usage, cachedTokens: number, firstTokenSeconds: number): void {
    this.#tokens.prompt += usage.promptTokens
    this.#tokens.cached += cachedTokens
    this.#tokens.image += usage.imageTokens
    this.#tokens.completion += usage.completionTokens
    observe(this.#firstTokens, firstTokenSeconds)
  }

  /** Tokens that were read without an answer. */
  recordPrompt(tokens: number): void {
    this.#tokens.prompt += tokens
  }

  toText(): string {
    const lines: string[] = []
    const head = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    }
    head('onsight_requests_total', 'counter', 'Requests by route and status.')
    for (const { route, status, count } of this.#requests.values()) {
      lines.push(`onsight_requests_total{route=${quote(route)},status="${status}"} ${count}`)
    }
    head('onsight_request_duration_seconds', 'histogram', 'From a request to the end of its answer.')
    for (const [route, histogram] of this.#durations) {
      lines.push(...histogramLines('onsight_request_duration_seconds', `route=${quote(route)}`, histogram))
    }
    head('onsight_first_token_seconds', 'histogram', 'From the turn in the queue to the first token.')
    lines.push(...histogramLines('onsight_first_token_seconds', '', this.#firstTokens))
    head('onsight_tokens_total', 'counter', 'Tokens; cached and image ones are among the prompt ones.')
    for (const [kind, value] of Object.entries(this.#tokens)) {
      lines.push(`onsight_tokens_total{kind="${kind}"} ${value}`)
    }
    for (const { name, help, read } of this.#gauges) {
      head(name, 'gauge', help)
      for (const { model, value } of read()) {
        lines.push(`${name}${model === undefined ? '' : `{model=${quote(model)}}`} ${value}`)
      }
    }
    return `${lines.join('\n')}\n`
  }
}

function createHistogram(): Histogram {
  return { counts: BUCKETS.map(() => 0), count: 0, sum: 0 }
}

function observe(histogram: Histogram, seconds: number): void {
  histogram.count++
  histogram.sum += seconds
  const index = BUCKETS.findIndex((bound) => seconds <= bound)
  if (index >= 0) histogram.counts[index] = (histogram.counts[index] as number) + 1
}

function histogramLines(name: string, label: string, { counts, count, sum }: Histogram): string[] {
  const prefix = label === '' ? '' : `${label},`
  const suffix = label === '' ? '' : `{${label}}`
  let below = 0
  return [
    ...BUCKETS.map((bound, index) => {
      below += counts[index] as number
      return `${name}_bucket{${prefix}le="${bound}"} ${below}`
    }),
    `${name}_bucket{${prefix}le="+Inf"} ${count}`,
    `${name}_sum${suffix} ${sum}`,
    `${name}_count${suffix} ${count}`,
  ]
}

function quote(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
