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
  const candidates = likeliest(logits, topK)
  const highest = logits[candidates[0] as number] as number
  const weights = candidates.map((id) => Math.exp(((logits[id] as number) - highest) / temperature))
  let count = candidates.length
  if (topP < 1) count = countTopP(weights, topP)
  // The likeliest token always has weight 1, so the share of min-p is the weight itself.
  while (count > 1 && (weights[count - 1] as number) < minP) count--
  const total = weights.slice(0, count).reduce((sum, weight) => sum + weight, 0)
  let rest = point * total
  for (let index = 0; index < count; index++) {
    rest -= weights[index] as number
    if (rest < 0) return candidates[index] as number
  }
  return candidates[count - 1] as number
}

/** Ids by falling logit, ties by id; all of them or the first `topK`. */
function likeliest(logits: Float32Array, topK: number): number[] {
  const floor = topK > 0 && topK < logits.length ? kthLargest(logits, topK) : Number.NEGATIVE_INFINITY
  const ids: number[] = []
  for (let id = 0; id < logits.length; id++) if ((logits[id] as number) >= floor) ids.push(id)
  ids.sort((a, b) => (logits[b] as number) - (logits[a] as number) || a - b)
  return topK > 0 ? ids.slice(0, topK) : ids
}

function kthLargest(logits: Float32Array, k: number): number {
  const sorted = Float32Array.from(logits).sort()
  return sorted[sorted.length - k] as number
}

/** How many of the falling weights are needed to reach the share `topP` of their sum. */
function countTopP(weights: readonly number[], topP: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  for (const [index, weight] of weights.entries()) {
    sum += weight
    if (sum >= topP * total) return index + 1
  }
  return weights.length
}
