/**
 * The inverse of a monotonic rational-quadratic spline on [-bound, bound], the identity outside.
 * Source: Durkan et al., "Neural Spline Flows", https://arxiv.org/abs/1906.04032, as VITS uses it.
 */

/** Smallest width, height and slope of a bin, as the models were trained. */
const MIN_SIZE = 1e-3
const MIN_SLOPE = 1e-3
/** The slope at both ends is 1: softplus(this) + MIN_SLOPE. */
const END_SLOPE = Math.log(Math.exp(1 - MIN_SLOPE) - 1)

/**
 * @param y Where the spline arrives.
 * @param parameters Widths (bins), heights (bins) and slopes between bins (bins - 1), none of them normalised.
 * @returns The x that leads to y.
 */
export function invertSpline(y: number, parameters: ArrayLike<number>, bins: number, bound: number): number {
  if (!(y >= -bound && y <= bound)) return y
  const at = (index: number): number => parameters[index] as number
  const xs = knots(
    Array.from({ length: bins }, (_, bin) => at(bin)),
    bound,
  )
  const ys = knots(
    Array.from({ length: bins }, (_, bin) => at(bins + bin)),
    bound,
  )
  const slope = (knot: number): number =>
    MIN_SLOPE + softplus(knot === 0 || knot === bins ? END_SLOPE : at(2 * bins + knot - 1))
  let bin = 0
  while (bin < bins - 1 && y >= (ys[bin + 1] as number)) bin++
  const [x0, x1, y0, y1] = [xs[bin], xs[bin + 1], ys[bin], ys[bin + 1]] as [number, number, number, number]
  const width = x1 - x0
  const height = y1 - y0
  const mean = height / width
  const left = slope(bin)
  const right = slope(bin + 1)
  const bend = left + right - 2 * mean
  const rise = y - y0
  const a = height * (mean - left) + rise * bend
  const b = height * left - rise * bend
  const c = -mean * rise
  const root = (2 * c) / (-b - Math.sqrt(Math.max(0, b * b - 4 * a * c)))
  return root * width + x0
}

/** Ends of bins from -bound to bound, whose sizes are a softmax with a least size. */
function knots(sizes: readonly number[], bound: number): number[] {
  const largest = Math.max(...sizes)
  const weights = sizes.map((size) => Math.exp(size - largest))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const ends = [-bound]
  let sum = 0
  for (const weight of weights) {
    sum += MIN_SIZE + (1 - MIN_SIZE * sizes.length) * (weight / total)
    ends.push(2 * bound * sum - bound)
  }
  ends[sizes.length] = bound
  return ends
}

function softplus(x: number): number {
  return x > 20 ? x : Math.log1p(Math.exp(x))
}
