/**
 * The error function to about 1e-15. Near zero its series of positive terms, further out Laplace's continued
 * fraction of the complement: NIST Digital Library of Mathematical Functions 7.6.2 and 7.9.1.
 */

/** From here on the continued fraction settles in 60 steps, and up to here the series in 80 terms. */
const SERIES_LIMIT = 2.5
const FRACTION_STEPS = 60

export function erf(x: number): number {
  const z = Math.abs(x)
  const value = z < SERIES_LIMIT ? seriesOfErf(z) : 1 - complementByFraction(z)
  return x < 0 ? -value : value
}

/** erf(z) = 2/√π · exp(-z²) · Σ 2ⁿ z²ⁿ⁺¹ / (1·3·…·(2n+1)). */
function seriesOfErf(z: number): number {
  let term = z
  let sum = z
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * z * z) / (2 * n + 1)
    sum += term
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum
}

/** erfc(z) = exp(-z²)/√π · 1/(z + (1/2)/(z + (2/2)/(z + (3/2)/(z + …)))), evaluated from the inside. */
function complementByFraction(z: number): number {
  let tail = z
  for (let step = FRACTION_STEPS; step >= 1; step--) tail = z + step / 2 / tail
  return Math.exp(-z * z) / Math.sqrt(Math.PI) / tail
}
