import { describe, expect, it } from 'vitest'
import { noise, sha256, vectors } from '../../test/golden/image/vectors.ts'
import { completeSteps } from '../shared/steps.ts'
import { resample } from './resample.ts'
import { filterOfPillowNumber, type ResampleFilter } from './resample-filter.ts'
import { RgbImage } from './rgb-image.ts'

const FILTERS: ResampleFilter[] = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming']

function picture(width: number, height: number): RgbImage {
  return new RgbImage(width, height, noise(width, height))
}

describe('resample equals Pillow 13 byte for byte', () => {
  it.each(vectors.resizes)('$filter $from -> $to', ({ filter, from, to, base64, sha256: digest }) => {
    const result = completeSteps(resample(picture(...from), ...to, filter as ResampleFilter))
    expect([result.width, result.height]).toEqual(to)
    if (base64 !== undefined) expect(Buffer.from(result.data).toString('base64')).toBe(base64)
    else expect(sha256([result.data])).toBe(digest)
  })
})

describe('resample with a region', () => {
  it.each(FILTERS)('%s: a part equals the same part of the whole', (filter) => {
    const image = picture(61, 47)
    for (const [width, height] of [
      [130, 90],
      [20, 15],
      [61, 20],
      [20, 47],
      [61, 47],
    ] as const) {
      const whole = completeSteps(resample(image, width, height, filter))
      const region = { left: 3, top: 5, width: 14, height: 9 }
      const part = completeSteps(resample(image, width, height, filter, region))
      for (let row = 0; row < region.height; row++) {
        const from = ((region.top + row) * width + region.left) * 3
        const at = row * region.width * 3
        expect(part.data.slice(at, at + 42).join()).toBe(whole.data.slice(from, from + 42).join())
      }
    }
  })

  it('computes a small part of a result that could not be held', () => {
    const part = completeSteps(
      resample(picture(1, 60_000), 336, 20_160_000, 'bicubic', {
        left: 0,
        top: 10_079_832,
        width: 336,
        height: 336,
      }),
    )
    expect([part.width, part.height]).toEqual([336, 336])
    // The middle lies between input rows 29999 and 30000; the picture is one pixel wide, so rows are of one colour.
    const [above, below] = [noise(1, 30_001).subarray(89_997, 90_000), noise(1, 30_001).subarray(90_000)]
    for (let channel = 0; channel < 3; channel++) {
      const low = Math.min(above[channel]!, below[channel]!) - 40
      const high = Math.max(above[channel]!, below[channel]!) + 40
      expect(part.data[168 * 336 * 3 + channel]).toBeGreaterThanOrEqual(low)
      expect(part.data[168 * 336 * 3 + channel]).toBeLessThanOrEqual(high)
    }
  })
})

describe('resample in several rounds', () => {
  it('gives a strip whose weights exceed the table the colour of a constant picture', () => {
    // 6 million weights: two rounds of columns, then of rows.
    const length = 1_000_000
    const wide = new RgbImage(length, 1, new Uint8Array(length * 3).fill(77))
    expect(new Set(completeSteps(resample(wide, 2048, 1, 'lanczos')).data)).toEqual(new Set([77]))
    const tall = new RgbImage(1, length, wide.data)
    expect(new Set(completeSteps(resample(tall, 1, 2048, 'lanczos')).data)).toEqual(new Set([77]))
  })

  it('makes the same of a strip lying and standing', () => {
    const length = 900_000
    const bytes = noise(length, 1)
    const lying = completeSteps(resample(new RgbImage(length, 1, bytes), 2048, 1, 'lanczos'))
    const standing = completeSteps(resample(new RgbImage(1, length, bytes), 1, 2048, 'lanczos'))
    expect(sha256([lying.data])).toBe(sha256([standing.data]))
    const part = completeSteps(
      resample(new RgbImage(length, 1, bytes), 2048, 1, 'lanczos', {
        left: 1500,
        top: 0,
        width: 100,
        height: 1,
      }),
    )
    expect(part.data.join()).toBe(lying.data.slice(4500, 4800).join())
  })
})

describe('resample refuses', () => {
  it.each([
    [0, 5],
    [5, 0],
    [2.5, 5],
    [Number.NaN, 5],
    [-1, 5],
  ])('%d x %d', (width, height) => {
    expect(() => completeSteps(resample(picture(2, 2), width, height, 'lanczos'))).toThrow(
      expect.objectContaining({ code: 'image/invalid-size' }),
    )
  })

  it('a region outside and a result above 2 GB', () => {
    const image = picture(2, 2)
    expect(() =>
      completeSteps(resample(image, 4, 4, 'box', { left: 1, top: 0, width: 4, height: 4 })),
    ).toThrow(
      'Resizing 2 x 2 pixels: expected whole numbers and a part inside the result, found 4 x 4 at 1, 0 of 4 x 4.',
    )
    expect(() => completeSteps(resample(image, 100_000, 100_000, 'box'))).toThrow(
      'Resizing 2 x 2 pixels to 100000 x 100000 needs 30000000000 bytes; at most 2147483647 are possible.',
    )
  })
})

describe('filterOfPillowNumber', () => {
  it('knows the six of Pillow', () => {
    expect([0, 1, 2, 3, 4, 5].map((number) => filterOfPillowNumber(number, 'x'))).toEqual(FILTERS)
  })

  it.each([6, -1, 1.5, '1', null])('refuses %j', (value) => {
    expect(() => filterOfPillowNumber(value, 'a.json: "resample"')).toThrow(
      `a.json: "resample": expected a Pillow filter number from 0 to 5, found ${JSON.stringify(value)}.`,
    )
  })
})

it.each([
  ['a photo', 6000, 4000, 2048, 1366],
  ['a wide strip', 3_000_000, 8, 2048, 1],
  ['a tall strip', 8, 3_000_000, 1, 2048],
  ['a strip that only gets lower', 3_000_000, 8, 3_000_000, 2],
])('%s is resized in many steps', (_, width, height, newWidth, newHeight) => {
  const image = new RgbImage(width, height, new Uint8Array(width * height * 3))
  const steps = resample(image, newWidth, newHeight, 'lanczos')
  let count = 1
  while (!steps.next().done) count++
  expect(count).toBeGreaterThan(20)
})
