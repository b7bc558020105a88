/** How likely a model holds tokens to be: the natural logarithm of its softmax, before anything is changed or left out. */

export interface TokenScore {
  readonly id: number
  readonly logprob: number
}

/** A token that was chosen, and the likeliest ones at its place. */
export interface ScoredToken extends TokenScore {
  /** Falling; of equal ones the lowest id first. */
  readonly top: readonly TokenScore[]
}

/** Keeps what is needed of the logits, which may change afterwards. @param count How many of the likeliest are wanted. */
export function scoreTokens(logits: Float32Array, count: number): (id: number) => ScoredToken {
  const raw = Float32Array.from(logits)
  const { highest, logOfRest } = splitLogSumExp(raw)
  const score = (id: number): TokenScore => ({ id, logprob: (raw[id] as number) - highest - logOfRest })
  const top = largest(raw, count).map(score)
  return (id) => ({ ...score(id), top })
}

/**
 * log(sum(exp(logits))) as the highest logit and what comes on top of it, at most the logarithm of the vocabulary. In
 * double precision: sums over vocabularies lose digits that probabilities need.
 */
export function splitLogSumExp(logits: Float32Array): { highest: number; logOfRest: number } {
  let highest = Number.NEGATIVE_INFINITY
  for (let id = 0; id < logits.length; id++) highest = Math.max(highest, logits[id] as number)
  let sum = 0
  for (let id = 0; id < logits.length; id++) sum += Math.exp((logits[id] as number) - highest)
  return { highest, logOfRest: Math.log(sum) }
}

/** Ids of the `count` largest values in falling order. Few are wanted of many. */
function largest(values: Float32Array, count: number): number[] {
  const ids: number[] = []
  if (count === 0) return ids
  let least = Number.NEGATIVE_INFINITY
  for (let id = 0; id < values.length; id++) {
    const value = values[id] as number
    if (ids.length === count && value <= least) continue
    let place = ids.length
    while (place > 0 && (values[ids[place - 1] as number] as number) < value) place--
    ids.splice(place, 0, id)
    ids.length = Math.min(ids.length, count)
    least = values[ids.at(-1) as number] as number
  }
  return ids
}
