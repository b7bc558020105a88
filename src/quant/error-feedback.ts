/**
 * Which part of a column's rounding error the columns after it can make up for, given how a layer's inputs vary
 * together. With second moments H = M D Mᵀ (M unit upper triangular, D diagonal) the squared error of the layer's
 * output is the sum over columns of D[k] · (e[k] + Σ e[i] M[i,k] over i < k)²; so adding Σ e[i] M[i,k] to a weight before
 * it is rounded leaves only its own rounding error.
 *
 * Method: Chee et al. 2023, "QuIP" (LDLQ), which equals GPTQ (Frantar et al. 2022) without its inverse.
 */

/** Second moments of a layer's inputs: element (i, j), j ≤ i, at i(i + 1)/2 + j. */
export type Moments = Float32Array

export interface ErrorFeedback {
  readonly columns: number
  /** What remains of each column's variance once those after it are known, D. */
  readonly variances: Float32Array // (columns)
  /** M[i,k] at k(k - 1)/2 + i, i < k: what column k takes over of column i's error. */
  readonly shares: Float32Array
}

/** Share of the mean variance added to each column, so that inputs which never varied are no licence for any error. */
const DAMPING = 0.01

/** Factorises by rows from the last column down, in float64; columns³/3 multiplications. */
export function factorizeMoments(moments: Moments, columns: number): ErrorFeedback {
  const at = (i: number, j: number): number => moments[(i * (i + 1)) / 2 + j] as number
  let trace = 0
  for (let i = 0; i < columns; i++) trace += at(i, i)
  const damping = trace > 0 ? (DAMPING * trace) / columns : 1
  // Row i holds M[i,p] · D[p] behind its diagonal while it is made, so that a product needs no third factor.
  const scaled = Array.from({ length: columns }, (_, i) => new Float64Array(columns - i))
  const plain = Array.from({ length: columns }, (_, i) => new Float64Array(columns - i))
  const variances = new Float32Array(columns)
  for (let j = columns - 1; j >= 0; j--) {
    const rowScaled = scaled[j] as Float64Array
    const rowPlain = plain[j] as Float64Array
    let variance = at(j, j) + damping
    for (let p = 1; p < columns - j; p++) variance -= (rowScaled[p] as number) * (rowPlain[p] as number)
    variance = Math.max(variance, damping * 1e-3) // rounding may eat up what damping has added
    variances[j] = variance
    for (let i = j - 1; i >= 0; i--) {
      const other = scaled[i] as Float64Array
      const shift = j - i
      let value = at(j, i)
      for (let p = 1; p < columns - j; p++) value -= (other[p + shift] as number) * (rowPlain[p] as number)
      other[shift] = value
      ;(plain[i] as Float64Array)[shift] = value / variance
    }
  }
  const shares = new Float32Array((columns * (columns - 1)) / 2)
  for (let k = 1; k < columns; k++) {
    for (let i = 0; i < k; i++) shares[(k * (k - 1)) / 2 + i] = (plain[i] as Float64Array)[k - i] as number
  }
  return { columns, variances, shares }
}
