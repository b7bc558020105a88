/** Largest difference of two lists of numbers, as a share of the largest absolute value expected; infinite for NaN. */
export function largestShare(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  let largest = 0
  let worst = 0
  for (let index = 0; index < expected.length; index++) {
    const wanted = expected[index] as number
    const difference = Math.abs((actual[index] as number) - wanted)
    largest = Math.max(largest, Math.abs(wanted))
    worst = difference <= worst ? worst : Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
  }
  return largest === 0 ? worst : worst / largest
}
