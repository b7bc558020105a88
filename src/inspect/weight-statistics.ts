/**
 * What tells weights that were trained from weights as an initialiser left them. Initialisers draw every element alone
 * and alike (or make all rows orthogonal); training ties elements together. So five numbers are measured whose values
 * for independent elements are known from theory, whatever the distribution:
 *
 * - `edge`: the largest singular value against the edge of the Marchenko-Pastur law, in units of the Tracy-Widom law
 *   (Johnstone 2001, "On the distribution of the largest eigenvalue in principal components analysis").
 * - `rowOverlap`, `columnOverlap`: mean squared cosine of pairs of rows (columns) times their length, which is the fourth
 *   moment of the singular values against that of the Marchenko-Pastur law: 1 for independent elements, 0 for orthogonal.
 * - `rowSpread`, `columnSpread`: how much the power of rows (columns) varies, against what chance alone gives.
 *
 * Each comes with its distance from chance in standard deviations. Quantisation adds independent noise and leaves
 * all of this as it is. Elements are clipped at four standard deviations first, which keeps independent elements
 * independent and stops a few outliers from deciding.
 */
import { type MatrixSample, pickRows, transpose } from './matrix-sample.ts'

export interface Statistic {
  /** 1 is what independent elements give. */
  readonly ratio: number
  /** Distance from that in standard deviations. */
  readonly z: number
}

export interface WeightStatistics {
  /** Of the sample. */
  readonly rows: number
  readonly columns: number
  readonly std: number
  /** 3 for a normal distribution, 1.8 for a uniform one. */
  readonly kurtosis: number
  readonly edge: Statistic
  readonly rowOverlap: Statistic
  readonly columnOverlap: Statistic
  readonly rowSpread: Statistic
  readonly columnSpread: Statistic
}

const CLIP_DEVIATIONS = 4
/** Multiplications for one overlap: well under a tenth of a second. */
const OVERLAP_BUDGET = 3e7
const MAX_OVERLAP_VECTORS = 384
/** Enough for three digits where the largest singular value stands alone; at the edge it errs to the small side. */
const POWER_ITERATIONS = 80
const POWER_TOLERANCE = 1e-5
/** Mean and standard deviation of the Tracy-Widom law of order 1. */
const TRACY_WIDOM = { mean: -1.2065, std: 1.268 }
/** The square of elements of equal size does not vary at all; keeps the division finite. */
const MIN_SQUARE_VARIANCE = 0.02

/** A sample whose cheap numbers are known. */
export interface WeightSpreads extends Omit<WeightStatistics, 'edge' | 'rowOverlap' | 'columnOverlap'> {
  readonly clipped: MatrixSample
  /** `clipped` with columns for rows. */
  readonly turned: MatrixSample
  /** Mean square of the clipped elements. */
  readonly power: number
}

/**
 * The statistics that cost little; most trained matrices show in them already. Rows of zeros (padding) are left out.
 * Undefined for a sample without variation or with values that are no numbers.
 */
export function measureSpreads(sample: MatrixSample): WeightSpreads | undefined {
  const whole = dropZeroRows(sample)
  const moments = measureMoments(whole.values)
  if (!Number.isFinite(moments.power) || moments.power === 0) return undefined
  const clipped = clip(whole, CLIP_DEVIATIONS * Math.sqrt(moments.power))
  const { power, kurtosis } = measureMoments(clipped.values)
  const turned = transpose(clipped)
  return {
    rows: whole.rows,
    columns: whole.columns,
    std: Math.sqrt(moments.power),
    kurtosis: moments.kurtosis,
    rowSpread: measureSpread(clipped, power, kurtosis),
    columnSpread: measureSpread(turned, power, kurtosis),
    clipped,
    turned,
    power,
  }
}

/** All statistics. */
export function measureWeights({ clipped, turned, power, ...spreads }: WeightSpreads): WeightStatistics {
  return {
    ...spreads,
    edge: measureEdge(clipped, power),
    rowOverlap: measureOverlap(clipped),
    columnOverlap: measureOverlap(turned),
  }
}

function dropZeroRows(sample: MatrixSample): MatrixSample {
  const { rows, columns, values } = sample
  const kept: number[] = []
  for (let row = 0; row < rows; row++) {
    if (values.subarray(row * columns, (row + 1) * columns).some((value) => value !== 0)) kept.push(row)
  }
  if (kept.length === rows) return sample
  const out = new Float32Array(kept.length * columns)
  for (const [index, row] of kept.entries())
    out.set(values.subarray(row * columns, (row + 1) * columns), index * columns)
  return { ...sample, rows: kept.length, values: out }
}

/** Around zero: initialisers of matrices have no other mean. */
function measureMoments(values: Float32Array): { power: number; kurtosis: number } {
  let squares = 0
  let fourths = 0
  for (const value of values) {
    const square = value * value
    squares += square
    fourths += square * square
  }
  const power = squares / values.length
  return { power, kurtosis: fourths / values.length / (power * power) }
}

function clip(sample: MatrixSample, limit: number): MatrixSample {
  return { ...sample, values: sample.values.map((value) => Math.max(-limit, Math.min(limit, value))) }
}

function measureEdge({ rows, columns, values }: MatrixSample, power: number): Statistic {
  const short = Math.sqrt(Math.min(rows, columns) - 1)
  const long = Math.sqrt(Math.max(rows, columns))
  const centre = (short + long) ** 2
  const scale = (short + long) * (1 / short + 1 / long) ** (1 / 3)
  const square = largestSingularSquare(rows, columns, values) / power
  const deviation = (square - centre) / scale
  return {
    ratio: Math.sqrt(square / centre),
    z: (deviation - TRACY_WIDOM.mean) / TRACY_WIDOM.std,
  }
}

/** Power iteration on X'X from a fixed start. */
function largestSingularSquare(rows: number, columns: number, values: Float32Array): number {
  let vector = Float64Array.from({ length: columns }, (_, index) => 1 + Math.sin(index * 12.9898))
  let square = 0
  for (let iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
    for (let column = 0; column < columns; column++) vector[column] = (vector[column] as number) / length
    const next = new Float64Array(columns)
    let image = 0
    for (let row = 0; row < rows; row++) {
      const at = row * columns
      let dot = 0
      for (let column = 0; column < columns; column++)
        dot += (values[at + column] as number) * (vector[column] as number)
      image += dot * dot
      for (let column = 0; column < columns; column++)
        next[column] = (next[column] as number) + dot * (values[at + column] as number)
    }
    const change = Math.abs(image - square)
    square = image
    if (change <= POWER_TOLERANCE * square) break
    vector = next
  }
  return square
}

/** Pairs of rows. Rows of zeros take no part. */
function measureOverlap(sample: MatrixSample): Statistic {
  const count = Math.min(
    MAX_OVERLAP_VECTORS,
    Math.max(16, Math.floor(Math.sqrt((2 * OVERLAP_BUDGET) / sample.columns))),
  )
  const { rows, columns, values } = normalizeRows(pickRows(sample, count))
  let sum = 0
  for (let first = 0; first < rows; first++)
    for (let second = first + 1; second < rows; second++)
      sum += dotRows(values, first, values, second, columns) ** 2
  const pairs = (rows * (rows - 1)) / 2
  const ratio = (sum / pairs) * columns
  return { ratio, z: (ratio - 1) * Math.sqrt(pairs / 2) }
}

export function normalizeRows(sample: MatrixSample): MatrixSample {
  const whole = dropZeroRows(sample)
  const { rows, columns, values } = whole
  const out = new Float32Array(values.length)
  for (let row = 0; row < rows; row++) {
    const at = row * columns
    const length = Math.sqrt(dotRows(values, row, values, row, columns))
    for (let column = 0; column < columns; column++)
      out[at + column] = (values[at + column] as number) / length
  }
  return { ...whole, values: out }
}

export function dotRows(
  a: Float32Array,
  rowOfA: number,
  b: Float32Array,
  rowOfB: number,
  columns: number,
): number {
  const atA = rowOfA * columns
  const atB = rowOfB * columns
  let sum = 0
  for (let column = 0; column < columns; column++)
    sum += (a[atA + column] as number) * (b[atB + column] as number)
  return sum
}

/** The power of a row of n independent elements varies by sqrt((kurtosis - 1) / n) of its mean. */
function measureSpread({ rows, columns, values }: MatrixSample, power: number, kurtosis: number): Statistic {
  let sum = 0
  for (let row = 0; row < rows; row++) {
    const deviation = dotRows(values, row, values, row, columns) / columns / power - 1
    sum += deviation * deviation
  }
  const expected = Math.sqrt(Math.max(kurtosis - 1, MIN_SQUARE_VARIANCE) / columns)
  const ratio = Math.sqrt(sum / (rows - 1)) / expected
  return { ratio, z: (ratio - 1) * Math.sqrt(2 * rows) }
}
