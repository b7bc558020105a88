import { expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { factorizeMoments } from './error-feedback.ts'

it('two columns by hand', () => {
  // H = [[2, 1], [1, 3]] with 1% of the mean variance 2.5 added: D[1] = 3.025, M[0,1] = 1 / 3.025,
  // D[0] = 2.025 − 1 / 3.025.
  const { variances, shares, columns } = factorizeMoments(Float32Array.of(2, 1, 3), 2)
  expect(columns).toBe(2)
  expect(variances).toEqual(Float32Array.of(2.025 - 1 / 3.025, 3.025))
  expect(shares).toEqual(Float32Array.of(1 / 3.025))
})

it('the factors multiply to the moments', () => {
  const random = new SeededRandom(3)
  const columns = 24
  const rows = Array.from({ length: 60 }, () => Array.from({ length: columns }, () => random.normal()))
  const moment = (i: number, j: number): number => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)
  const moments = new Float32Array((columns * (columns + 1)) / 2)
  for (let i = 0; i < columns; i++) for (let j = 0; j <= i; j++) moments[(i * (i + 1)) / 2 + j] = moment(i, j)
  const { variances, shares } = factorizeMoments(moments, columns)
  const factor = (i: number, k: number): number => (i === k ? 1 : i < k ? shares[(k * (k - 1)) / 2 + i]! : 0)
  const trace = Array.from({ length: columns }, (_, i) => moment(i, i)).reduce((sum, value) => sum + value, 0)
  for (let i = 0; i < columns; i++) {
    for (let j = 0; j <= i; j++) {
      let product = 0
      for (let k = 0; k < columns; k++) product += factor(i, k) * variances[k]! * factor(j, k)
      const expected = moments[(i * (i + 1)) / 2 + j]! + (i === j ? (0.01 * trace) / columns : 0)
      expect(Math.abs(product - expected)).toBeLessThan(1e-4)
    }
  }
})

it('inputs that were always zero share nothing', () => {
  const { variances, shares } = factorizeMoments(new Float32Array(6), 3)
  expect(variances).toEqual(Float32Array.of(1, 1, 1))
  expect(shares).toEqual(Float32Array.of(0, 0, 0))
})
