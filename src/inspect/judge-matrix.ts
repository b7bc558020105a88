/** The verdict on one matrix: trained, or as an initialiser left it. Thresholds are validated in docs/inspect.md. */
import type { MatrixSample } from './matrix-sample.ts'
import {
  measureSpreads,
  measureWeights,
  type WeightSpreads,
  type WeightStatistics,
} from './weight-statistics.ts'

/**
 * `random`: elements are independent of each other. `orthogonal`: rows or columns are, exactly. `constant`: one value.
 * `unjudged`: too small, or not finite.
 */
export type MatrixLooks = 'trained' | 'random' | 'orthogonal' | 'constant' | 'unjudged'

export interface MatrixVerdict {
  readonly looks: MatrixLooks
  /** The statistic that lies farthest from chance, in standard deviations. */
  readonly z: number
  readonly statistic: StatisticName | undefined
  readonly statistics: WeightStatistics | undefined
  /** The initialiser that the elements look like. */
  readonly initializer: string | undefined
}

export type StatisticName = 'edge' | 'rowOverlap' | 'columnOverlap' | 'rowSpread' | 'columnSpread'

/**
 * Beyond so many standard deviations elements are no longer independent. Of 5 statistics on some thousand random
 * matrices none came farther than 4.5; trained matrices of language and vision models lie at 8 to 10,000.
 */
export const TRAINED_Z = 6
const PLAINLY_TRAINED_Z = 2 * TRAINED_Z
/** Quantised orthogonal matrices come to 0.03; the lowest trained one measured to 0.5. */
const ORTHOGONAL_OVERLAP = 0.1
/** Chance in overlaps of 64 rows and more, and what quantisation to 4 bits adds. */
const TALL_TOLERANCE = 0.04
/** Below this the five statistics vary too much to tell a trained matrix. */
const MIN_SIDE = 32

const UNJUDGED: MatrixVerdict = {
  looks: 'unjudged',
  z: 0,
  statistic: undefined,
  statistics: undefined,
  initializer: undefined,
}

export function judgeMatrix(sample: MatrixSample): MatrixVerdict {
  const { values } = sample
  if (values.length > 1 && values.every((value) => value === values[0]))
    return { ...UNJUDGED, looks: 'constant', initializer: `all ${values[0]}` }
  if (Math.min(sample.rows, sample.columns) < MIN_SIDE) return UNJUDGED
  const spreads = measureSpreads(sample)
  if (!spreads || spreads.rows < MIN_SIDE) return UNJUDGED
  const plain = plainlyTrained(spreads)
  if (plain) return plain
  const statistics = measureWeights(spreads)
  const { statistic, z } = farthest(statistics)
  if (isOrthogonal(statistics, sample.totalRows))
    return { looks: 'orthogonal', z, statistic, statistics, initializer: 'orthogonal rows or columns' }
  if (z > TRAINED_Z) return { looks: 'trained', z, statistic, statistics, initializer: undefined }
  return { looks: 'random', z, statistic, statistics, initializer: describeDistribution(statistics) }
}

/**
 * All columns of a tall matrix being orthogonal shows in a part of its rows too: their overlap and the variance of their
 * power are 1 - columns / rows of what independent elements give.
 */
function isOrthogonal(statistics: WeightStatistics, totalRows: number): boolean {
  const { rows, columns, rowOverlap, columnOverlap, rowSpread } = statistics
  if (Math.min(rowOverlap.ratio, columnOverlap.ratio) < ORTHOGONAL_OVERLAP) return true
  if (rows === totalRows || columns >= totalRows || Math.abs(rowOverlap.z) < TRAINED_Z) return false
  const expected = 1 - columns / totalRows
  const isOverlapExpected = Math.abs(rowOverlap.ratio - expected) < TALL_TOLERANCE
  const isSpreadExpected =
    Math.abs(rowSpread.ratio - Math.sqrt(expected)) < TALL_TOLERANCE + 3 / Math.sqrt(2 * rows)
  return isOverlapExpected && isSpreadExpected
}

/** So far from chance in how power is spread that the costly statistics are not needed. */
function plainlyTrained({ rowSpread, columnSpread }: WeightSpreads): MatrixVerdict | undefined {
  const isByRow = rowSpread.z >= columnSpread.z
  const { z } = isByRow ? rowSpread : columnSpread
  if (z < PLAINLY_TRAINED_Z) return undefined
  return { ...UNJUDGED, looks: 'trained', z, statistic: isByRow ? 'rowSpread' : 'columnSpread' }
}

/** Overlaps count both ways, for training with orthogonal updates spreads singular values more evenly than chance. */
function farthest(statistics: WeightStatistics): { statistic: StatisticName; z: number } {
  const distances: readonly [StatisticName, number][] = [
    ['edge', statistics.edge.z],
    ['rowOverlap', Math.abs(statistics.rowOverlap.z)],
    ['columnOverlap', Math.abs(statistics.columnOverlap.z)],
    ['rowSpread', statistics.rowSpread.z],
    ['columnSpread', statistics.columnSpread.z],
  ]
  const [statistic, z] = distances.reduce((best, next) => (next[1] > best[1] ? next : best))
  return { statistic, z }
}

/** By the kurtosis: 3 normal, 2.36 normal cut at two deviations, 1.8 uniform. */
function describeDistribution({ kurtosis, std }: WeightStatistics): string {
  const scale = `standard deviation ${std.toPrecision(3)}`
  if (Math.abs(kurtosis - 1.8) < 0.15) return `uniform up to ${(std * Math.sqrt(3)).toPrecision(3)}`
  if (Math.abs(kurtosis - 2.36) < 0.15) return `truncated normal, ${scale}`
  if (Math.abs(kurtosis - 3) < 0.25) return `normal, ${scale}`
  return `independent elements, kurtosis ${kurtosis.toFixed(2)}, ${scale}`
}
