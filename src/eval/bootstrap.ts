/** The uncertainty of a mean over questions that come in groups: turns about one picture are not independent. */
import { createRandom } from '../generation/random.ts'

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Draws; the ends of the interval then move by about a hundredth of its width from seed to seed. */
const DRAWS = 10_000
const SEED = 1

/**
 * 95% interval of the mean of `values`, by drawing whole groups with replacement (percentile bootstrap). Seeded, so the
 * same values give the same interval.
 *
 * @param groups For each value the group it belongs to.
 */
export function bootstrapInterval(values: readonly number[], groups: readonly string[]): Interval {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const [index, value] of values.entries()) {
    const group = groups[index] as string
    const entry = sums.get(group) ?? { sum: 0, count: 0 }
    sums.set(group, { sum: entry.sum + value, count: entry.count + 1 })
  }
  const entries = [...sums.values()]
  if (entries.length === 0) return { low: 0, high: 0 }
  const random = createRandom(SEED)
  const means = Float64Array.from({ length: DRAWS }, () => {
    let sum = 0
    let count = 0
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[Math.floor(random() * entries.length)] as (typeof entries)[number]
      sum += entry.sum
      count += entry.count
    }
    return sum / count
  }).sort()
  return {
    low: means[Math.floor(DRAWS * 0.025)] as number,
    high: means[Math.ceil(DRAWS * 0.975) - 1] as number,
  }
}
