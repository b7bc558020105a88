/**
 * Whether two matrices that read (or write) the same numbers know of each other: trained neighbours prefer the same
 * directions, a matrix of random numbers or of another model does not. The measure is the mean squared cosine
 * between their rows, against the same with the columns of one of them shuffled.
 */
import { type MatrixSample, pickRows, transpose } from './matrix-sample.ts'
import { dotRows, normalizeRows } from './weight-statistics.ts'

const MAX_ROWS = 256
/** Of longer rows so many elements are compared, which keeps the tables of products at 1 MB. */
const MAX_COLUMNS = 512
/** Multiplications for one table of products: some hundredths of a second. */
const BUDGET = 3e7
const SHUFFLES = 16

/** Distance from chance in standard deviations; 0 where rows are of different lengths. */
export function measureAlignment(a: Directions, b: Directions): number {
  if (a.length !== b.length || a.rows === 0 || b.rows === 0) return 0
  const straight = Uint32Array.from({ length: a.columns }, (_, index) => index)
  const found = overlap(a, b, straight)
  const shuffled = Array.from({ length: SHUFFLES }, (_, seed) => overlap(a, b, shuffle(straight, seed)))
  const mean = shuffled.reduce((sum, value) => sum + value, 0) / SHUFFLES
  const variance = shuffled.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (SHUFFLES - 1)
  // Few shuffles may come out close together by chance; independent rows never vary less than this.
  const least = 2 / (a.rows * b.rows)
  return (found - mean) / Math.sqrt(Math.max(variance, least))
}

/** The directions that rows of a matrix take. */
export interface Directions {
  /** Of the rows in the matrix. */
  readonly length: number
  readonly rows: number
  /** Of the rows as compared. */
  readonly columns: number
  /** Products of all pairs of columns, summed over rows of length 1: all that squared cosines with other rows need. */
  readonly products: Float32Array // (columns, columns)
}

export function measureDirections(sample: MatrixSample): Directions {
  const wide = pickRows(sample, MAX_ROWS)
  const narrow = wide.columns > MAX_COLUMNS ? transpose(pickRows(transpose(wide), MAX_COLUMNS)) : wide
  const count = Math.max(32, Math.floor(BUDGET / narrow.columns ** 2))
  const normalized = normalizeRows(pickRows(narrow, count))
  const { rows: columns, columns: rows, values } = transpose(normalized)
  const products = new Float32Array(columns * columns)
  for (let first = 0; first < columns; first++) {
    for (let second = first; second < columns; second++) {
      const product = dotRows(values, first, values, second, rows)
      products[first * columns + second] = product
      products[second * columns + first] = product
    }
  }
  return { length: sample.columns, rows, columns, products }
}

/** Mean squared cosine times the length of the rows, with the columns of `b` in the given order: 1 by chance. */
function overlap(a: Directions, b: Directions, order: Uint32Array): number {
  const { columns } = a
  let sum = 0
  for (let first = 0; first < columns; first++) {
    const atA = first * columns
    const atB = (order[first] as number) * columns
    for (let second = 0; second < columns; second++)
      sum += (a.products[atA + second] as number) * (b.products[atB + (order[second] as number)] as number)
  }
  return (sum / (a.rows * b.rows)) * columns
}

function shuffle(straight: Uint32Array, seed: number): Uint32Array {
  const order = straight.slice()
  let state = seed + 1
  for (let last = order.length - 1; last > 0; last--) {
    // Numerical Recipes' generator; its upper bits are random enough to shuffle with.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    const kept = order[last] as number
    order[last] = order[other] as number
    order[other] = kept
  }
  return order
}
