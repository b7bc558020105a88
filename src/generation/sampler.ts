/**
 * Chooses the next token from logits, in the order of Transformers: repetition penalty, temperature, top-k, top-p,
 * min-p, then a draw.
 */
import { createRandom } from './random.ts'

export interface SamplingOptions {
  /** 0: the likeliest token, no draw. */
  readonly temperature: number
  /** 0: all tokens. */
  readonly topK: number
  /** 1: all tokens. */
  readonly topP: number
  /** 0: all tokens. */
  readonly minP: number
  /** 1: none. */
  readonly repetitionPenalty: number
  readonly seed: number
}

export interface Sampler {
  /** The next token. `seen`: ids that stand in the conversation, for the repetition penalty. `logits` may be changed. */
  next(logits: Float32Array, seen: ReadonlySet<number>): number
}

export function createSampler(options: SamplingOptions): Sampler {
  const random = createRandom(options.seed)
  return {
    next(logits, seen) {
      if (options.repetitionPenalty !== 1) penalize(logits, seen, options.repetitionPenalty)
      if (options.temperature === 0) return argmax(logits)
      return draw(logits, options, random())
    },
  }
}

/** Index of the largest value, the first of equal ones; NaN never wins. */
export function argmax(values: Float32Array): number {
  let best = 0
  let highest = Number.NEGATIVE_INFINITY
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (value > highest) {
      highest = value
      best = index
    }
  }
  return best
}

/** Divides positive logits and multiplies negative ones (Keskar et al. 2019, as in Transformers). */
function penalize(logits: Float32Array, seen: ReadonlySet<number>, penalty: number): void {
  for (const id of seen) {
    const value = logits[id]
    if (value !== undefined) logits[id] = value > 0 ? value / penalty : value * penalty
  }
}

function draw(
  logits: Float32Array,
  { temperature, topK, topP, minP }: SamplingOptions,
  point: number,
): number {
  const highest = logits[argmax(logits)] as number
  if (topK > 0 && topK < logits.length) keepLargest(logits, Float32Array.from(logits).sort(), topK)
  // Shares of the likeliest token's probability; 0 for those left out.
  const weights = new Float64Array(logits.length)
  for (let id = 0; id < weights.length; id++) {
    const logit = logits[id] as number
    if (logit > LEFT_OUT) weights[id] = Math.exp((logit - highest) / temperature)
  }
  if (topP < 1) {
    const sorted = weights.filter((weight) => weight > 0).sort()
    keepLargest(weights, sorted, countTopP(sorted, topP))
  }
  let total = 0
  for (let id = 0; id < weights.length; id++) {
    const weight = weights[id] as number
    if (weight < minP || weight < 0) weights[id] = 0
    else total += weight
  }
  let rest = point * total
  let last = 0
  for (let id = 0; id < weights.length; id++) {
    const weight = weights[id] as number
    if (weight === 0) continue
    last = id
    rest -= weight
    if (rest < 0) break
  }
  return last
}

const LEFT_OUT = Number.NEGATIVE_INFINITY

/**
 * Leaves out all but the `count` largest values; of equal ones those with the lowest ids stay. `sorted` rises: typed
 * arrays sort numbers several times faster than lists of ids sort by them.
 */
function keepLargest(
  values: Float32Array | Float64Array,
  sorted: Float32Array | Float64Array,
  count: number,
): void {
  const floor = sorted[sorted.length - count] as number
  let ties = count
  for (let id = 0; id < values.length; id++) if ((values[id] as number) > floor) ties--
  for (let id = 0; id < values.length; id++) {
    const value = values[id] as number
    if (value > floor || (value === floor && ties-- > 0)) continue
    values[id] = LEFT_OUT
  }
}

/** How many of the largest weights are needed to reach the share `topP` of all. */
function countTopP(sorted: Float64Array, topP: number): number {
  let total = 0
  for (let index = 0; index < sorted.length; index++) total += sorted[index] as number
  let sum = 0
  for (let count = 1; count < sorted.length; count++) {
    sum += sorted[sorted.length - count] as number
    if (sum >= topP * total) return count
  }
  return sorted.length
}
