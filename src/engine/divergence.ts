/** How far a model's next-token distributions lie from those of another, usually of itself in full precision. */

export interface Divergence {
  /** Sum over positions of KL(reference ‖ model), in nats. */
  readonly klSum: number
  /** Positions where both hold the same token for the likeliest. */
  readonly sameTop: number
  readonly positions: number
}

export const NO_DIVERGENCE: Divergence = { klSum: 0, sameTop: 0, positions: 0 }

/** @param vocabSize Row length of both; they have the same number of rows. */
export function measureDivergence(
  reference: Float32Array,
  model: Float32Array,
  vocabSize: number,
): Divergence {
  const positions = reference.length / vocabSize
  let klSum = 0
  let sameTop = 0
  for (let row = 0; row < positions; row++) {
    const from = row * vocabSize
    const p = describeRow(reference, from, vocabSize)
    const q = describeRow(model, from, vocabSize)
    let kl = 0
    for (let i = from; i < from + vocabSize; i++) {
      const logP = (reference[i] as number) - p.logSum
      kl += Math.exp(logP) * (logP - ((model[i] as number) - q.logSum))
    }
    klSum += Math.max(0, kl) // rounding may leave a trace below zero
    if (p.top === q.top) sameTop++
  }
  return { klSum, sameTop, positions }
}

export function addDivergence(a: Divergence, b: Divergence): Divergence {
  return {
    klSum: a.klSum + b.klSum,
    sameTop: a.sameTop + b.sameTop,
    positions: a.positions + b.positions,
  }
}

/** The likeliest token and the logarithm of the sum of exponentials. */
function describeRow(logits: Float32Array, from: number, length: number): { top: number; logSum: number } {
  let top = 0
  let highest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < length; i++) {
    const value = logits[from + i] as number
    if (value > highest) {
      highest = value
      top = i
    }
  }
  let sum = 0
  for (let i = 0; i < length; i++) sum += Math.exp((logits[from + i] as number) - highest)
  return { top, logSum: highest + Math.log(sum) }
}
