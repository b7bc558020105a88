import { expect, it } from 'vitest'
import { formatBytes, formatSeconds } from './quantities.ts'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.00 kB'],
  [9994, '9.99 kB'],
  [9995, '10.0 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.00 MB'],
  [513_028_808, '513 MB'],
  [1_705_125_856, '1.71 GB'],
  [5e15, '5000 TB'],
])('%d bytes are %s', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected)
})

it.each([
  [0.4, '0 s'],
  [89, '89 s'],
  [90, '2 min'],
  [3600, '60 min'],
  [5400, '1 h 30 min'],
  [7260, '2 h 1 min'],
])('%d seconds are %s', (seconds, expected) => {
  expect(formatSeconds(seconds)).toBe(expected)
})
