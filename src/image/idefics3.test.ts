import { describe, expect, it } from 'vitest'
import { noise, sha256, vectors } from '../../test/golden/image/vectors.ts'
import { completeSteps } from '../shared/steps.ts'
import { chooseDetail, frameCount, type Idefics3Settings, limitFrames, tileImage } from './idefics3.ts'
import { RgbImage } from './rgb-image.ts'

const SMOLVLM: Idefics3Settings = {
  kind: 'idefics3',
  resize: true,
  longestEdge: 2048,
  tileEdge: 512,
  split: true,
  filter: 'lanczos',
  normalization: { rescaleFactor: 1 / 255, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
  tokensPerFrame: 64,
}

describe('tileImage equals Transformers 5.18 byte for byte', () => {
  it.each(vectors.idefics3)('$size to $longestEdge in tiles of $tileEdge, splitting $split', (expected) => {
    const { size, longestEdge, tileEdge, split } = expected
    const image = new RgbImage(...size, noise(...size))
    const tiled = completeSteps(tileImage(image, { ...SMOLVLM, longestEdge, tileEdge, split }))
    expect(tiled.frames.length).toBe(expected.frames)
    expect([tiled.rows, tiled.cols]).toEqual([expected.rows, expected.cols])
    expect(sha256(tiled.frames.map((frame) => frame.data))).toBe(expected.sha256)
    expect([tiled.usedWidth, tiled.usedHeight]).toEqual([
      Math.max(tiled.cols, 1) * tileEdge,
      Math.max(tiled.rows, 1) * tileEdge,
    ])
  })
})

describe('tileImage on its edges', () => {
  it('keeps the size when resizing is off, apart from filling tiles', () => {
    const image = new RgbImage(20, 9, noise(20, 9))
    const tiled = completeSteps(tileImage(image, { ...SMOLVLM, resize: false, tileEdge: 10 }))
    expect([tiled.rows, tiled.cols, tiled.usedWidth, tiled.usedHeight]).toEqual([1, 2, 20, 10])
  })

  it('lets the cap of 4096 pixels win over the longest edge', () => {
    const image = new RgbImage(6, 3, noise(6, 3))
    const tiled = completeSteps(tileImage(image, { ...SMOLVLM, longestEdge: 5000, tileEdge: 1024 }))
    expect([tiled.usedWidth, tiled.usedHeight]).toEqual([4096, 2048])
  })

  it('makes one pixel of the short side of a strip', () => {
    const image = new RgbImage(9000, 1, noise(9000, 1))
    const tiled = completeSteps(tileImage(image, { ...SMOLVLM, longestEdge: 64, tileEdge: 16 }))
    expect([tiled.rows, tiled.cols]).toEqual([1, 4])
  })

  it('refuses settings that make more tiles than any model has', () => {
    const image = new RgbImage(300, 300, noise(300, 300))
    expect(() => completeSteps(tileImage(image, { ...SMOLVLM, tileEdge: 8 }))).toThrow(
      'A picture of 300 x 300 pixels would become 256 x 256 tiles of 8 pixels; at most 1024 are possible.',
    )
  })
})

describe('chooseDetail', () => {
  it.each([
    [1, 1, 'low', 2048],
    [512, 300, 'low', 2048],
    [767, 767, 'low', 2048],
    [768, 10, 'high', 1024],
    [1280, 720, 'high', 1536],
    [720, 1279, 'high', 1024],
    [1920, 1080, 'high', 2048],
    [4000, 3000, 'high', 2048],
  ] as const)('%d x %d: %s, longest edge %d', (width, height, detail, longestEdge) => {
    expect(chooseDetail(width, height, SMOLVLM)).toEqual({ detail, longestEdge })
  })

  it('never goes above the setting of the model', () => {
    const settings = { ...SMOLVLM, longestEdge: 900 }
    expect(chooseDetail(4000, 3000, settings)).toEqual({ detail: 'high', longestEdge: 900 })
  })

  it('leaves models alone that do not split', () => {
    const settings = { ...SMOLVLM, split: false }
    expect(chooseDetail(4000, 3000, settings)).toEqual({ detail: 'high', longestEdge: 2048 })
  })
})

describe('limitFrames', () => {
  const LARGEST = { detail: 'high', longestEdge: 2048 } as const

  it.each([
    // size, most frames, tiles along the long side that are left; 1 is the whole picture as one tile
    [3000, 3000, 17, 4],
    [3000, 3000, 16, 3],
    [3000, 3000, 9, 2],
    [3000, 3000, 5, 2],
    [3000, 3000, 4, 1],
    [4000, 3000, 13, 4],
    [4000, 3000, 12, 3],
    [4000, 3000, 9, 2],
    [3000, 4000, 12, 3],
    [4000, 900, 5, 4],
    [4000, 900, 4, 3],
    [4000, 900, 3, 2],
    [4000, 900, 2, 1],
    [4000, 900, 1, 1],
  ])('%i x %i in %i frames', (width, height, maxFrames, tiles) => {
    const choice = limitFrames(width, height, SMOLVLM, LARGEST, maxFrames)
    expect(choice).toEqual(
      tiles > 1 ? { detail: 'high', longestEdge: tiles * 512 } : { detail: 'low', longestEdge: 2048 },
    )
  })

  it('counts frames as they are made', () => {
    for (const [width, height] of [
      [50, 31],
      [31, 50],
      [40, 40],
      [90, 3],
      [7, 7],
    ] as const) {
      const image = new RgbImage(width, height, noise(width, height))
      for (const longestEdge of [16, 24, 32, 50, 64]) {
        for (const change of [{}, { split: false }, { resize: false }]) {
          const settings = { ...SMOLVLM, tileEdge: 16, longestEdge, ...change }
          expect(frameCount(width, height, settings)).toBe(
            completeSteps(tileImage(image, settings)).frames.length,
          )
        }
      }
    }
  })

  it('looks at the whole as one tile where the size of the picture decides', () => {
    const settings = { ...SMOLVLM, resize: false }
    const wanted = { detail: 'high', longestEdge: 2048 } as const
    expect(limitFrames(1000, 1000, settings, wanted, 5)).toEqual(wanted)
    expect(limitFrames(1000, 1000, settings, wanted, 4)).toEqual({ detail: 'low', longestEdge: 2048 })
  })

  it('leaves a longest edge that is no whole number of tiles as it is where it fits', () => {
    const wanted = { detail: 'high', longestEdge: 1200 } as const
    expect(limitFrames(3000, 3000, SMOLVLM, wanted, 10)).toEqual(wanted)
    expect(limitFrames(3000, 3000, SMOLVLM, wanted, 9)).toEqual({ detail: 'high', longestEdge: 1024 })
  })
})
