import { expect, it } from 'vitest'
import { RgbImage } from './rgb-image.ts'

it('holds the given bytes without a copy', () => {
  const data = new Uint8Array(18)
  expect(new RgbImage(3, 2, data).data).toBe(data)
})

it.each([
  [0, 1, 0],
  [1, 0, 0],
  [1.5, 2, 9],
  [-1, -1, 3],
  [Number.NaN, 1, 0],
])('refuses %d x %d', (width, height, length) => {
  expect(() => new RgbImage(width, height, new Uint8Array(length))).toThrow(
    `A picture needs a width and a height of at least 1 pixel, found ${width} x ${height}.`,
  )
})

it('refuses another length than three bytes a pixel', () => {
  expect(() => new RgbImage(3, 2, new Uint8Array(24))).toThrow(
    'A picture of 3 x 2 pixels needs 18 bytes of RGB, found 24.',
  )
})
