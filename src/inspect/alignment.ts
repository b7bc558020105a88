/**
 * Whether two matrices that read (or write) the same numbers know of each other: trained neighbours prefer the same
 * directions, a matrix of random numbers or of another model does not. The measure is the mean squared cosine
 * between their rows, against the same with the columns of one of them shuffled.
 */
import { type MatrixSample, pickRows } from './matrix-sample.ts'
import { dotRows, normalizeRows } from './weight-statistics.ts'

/** Multiplications of one comparison; with the shuffles well under half a second. */
const BUDGET = 8e6
const MAX_ROWS = 256
const SHUFFLES = 16

/** Distance from chance in standard deviations. Both samples have the same columns. */
export function measureAlignment(first: MatrixSample, second: MatrixSample): number {
  const { columns } = first
  const count = Math.min(MAX_ROWS, Math.max(16, Math.floor(Math.sqrt(BUDGET / columns))))
  const a = normalizeRows(pickRows(first, count))
  const b = normalizeRows(pickRows(second, count))
  if (a.rows === 0 || b.rows === 0) return 0
  const shuffled = Array.from({ length: SHUFFLES }, (_, seed) => overlap(a, shuffleColumns(b, seed)))
  const mean = shuffled.reduce((sum, value) => sum + value, 0) / SHUFFLES
  const variance = shuffled.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (SHUFFLES - 1)
  // Few shuffles may come out close together by chance; independent rows never vary less than this.
  const least = 2 / (a.rows * b.rows)
  return (overlap(a, b) - mean) / Math.sqrt(Math.max(variance, least))
}

function overlap(a: MatrixSample, b: MatrixSample): number {
  let sum = 0
  for (let first = 0; first < a.rows; first++)
    for (let second = 0; second < b.rows; second++)
      sum += dotRows(a.values, first, b.values, second, a.columns) ** 2
  return (sum / (a.rows * b.rows)) * a.columns
}

function shuffleColumns(sample: MatrixSample, seed: number): MatrixSample {
  const { rows, columns, values } = sample
  const order = Uint32Array.from({ length: columns }, (_, index) => index)
  let state = seed + 1
  for (let last = columns - 1; last > 0; last--) {
    // Numerical Recipes' generator; its upper bits are random enough to shuffle with.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    const kept = order[last] as number
    order[last] = order[other] as number
    order[other] = kept
  }
  const out = new Float32Array(values.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      out[row * columns + column] = values[row * columns + (order[column] as number)] as number
  return { ...sample, values: out }
}
