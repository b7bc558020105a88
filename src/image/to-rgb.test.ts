import { expect, it } from 'vitest'
import { rgbFromCmyk, rgbOverWhite } from './to-rgb.ts'

it('lays colours over white by their alpha', () => {
  const data = Uint8Array.of(200, 0, 0, 0, 200, 10, 0, 255, 200, 0, 255, 128, 1, 2, 3, 1)
  const image = rgbOverWhite(2, 2, data)
  // Half transparent 200 is 227.4 by hand; the bottom right pixel is almost white.
  expect([...image.data]).toEqual([255, 255, 255, 200, 10, 0, 227, 127, 255, 254, 254, 254])
})

it('turns ink into light', () => {
  const data = Uint8Array.of(0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 128, 64, 0, 51)
  expect([...rgbFromCmyk(4, 1, data).data]).toEqual([255, 255, 255, 255, 0, 0, 0, 0, 0, 102, 153, 204])
})
