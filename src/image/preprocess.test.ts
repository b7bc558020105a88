import { describe, expect, it } from 'vitest'
import { noise } from '../../test/golden/image/vectors.ts'
import { completeSteps } from '../shared/steps.ts'
import {
  type Detail,
  type PreprocessedImage,
  type PreprocessorSettings,
  planFrames,
  preprocess,
} from './preprocess.ts'
import { preprocessorFromProjector } from './preprocessor-config.ts'
import { RgbImage } from './rgb-image.ts'

const HALF = [0.5, 0.5, 0.5]
const SMOLVLM = preprocessorFromProjector(
  { projector: 'idefics3', imageSize: 32, mean: HALF, std: HALF },
  'test',
)
const LLAVA = preprocessorFromProjector({ projector: 'mlp', imageSize: 14, mean: HALF, std: HALF }, 'test')

function cut(image: RgbImage, settings: PreprocessorSettings, detail?: Detail): PreprocessedImage {
  return completeSteps(preprocess(image, planFrames(image, settings, detail)))
}

function picture(width: number, height: number): RgbImage {
  return new RgbImage(width, height, noise(width, height))
}

describe('preprocess', () => {
  it('cuts tiles and an overview at high detail', () => {
    const result = cut(picture(40, 30), SMOLVLM, 'high')
    expect(result).toMatchObject({
      rows: 3,
      cols: 4,
      tiles: 12,
      detail: 'high',
      frameWidth: 32,
      frameHeight: 32,
      usedWidth: 128,
      usedHeight: 96,
    })
    expect(result.frames.length).toBe(13)
  })

  it('makes one tile at low detail, by the stages of the reference with splitting off', () => {
    const low = cut(picture(40, 30), SMOLVLM, 'low')
    expect(low).toMatchObject({ rows: 0, cols: 0, tiles: 1, detail: 'low', usedWidth: 32, usedHeight: 32 })
    const off = cut(picture(40, 30), { ...SMOLVLM, split: false } as typeof SMOLVLM, 'high')
    expect(off.detail).toBe('high')
    expect(low.frames.map((frame) => frame.data.join())).toEqual(off.frames.map((frame) => frame.data.join()))
  })

  it('chooses by size on its own and says so', () => {
    expect(cut(picture(40, 30), SMOLVLM)).toMatchObject({ detail: 'low', tiles: 1 })
    expect(cut(picture(70, 30), SMOLVLM)).toMatchObject({
      detail: 'high',
      rows: 1,
      cols: 2,
      usedWidth: 64,
    })
    expect(cut(picture(500, 300), SMOLVLM)).toMatchObject({ detail: 'high', rows: 3, cols: 4 })
  })

  it.each(['low', 'high', 'auto'] as const)('knows one way for CLIP: %s', (detail) => {
    const result = cut(picture(40, 30), LLAVA, detail)
    expect(result).toMatchObject({
      rows: 0,
      cols: 0,
      tiles: 1,
      detail: 'high',
      usedWidth: 14,
      usedHeight: 14,
    })
    expect(result.frames.length).toBe(1)
  })

  it('normalises the asked frame, into memory of the caller when given', () => {
    const result = cut(picture(40, 30), SMOLVLM, 'high')
    const memory = new Float32Array(2 * 3 * 32 * 32)
    const target = memory.subarray(3 * 32 * 32)
    expect(result.pixelValues(7, target)).toBe(target)
    expect(target.join()).toBe(result.pixelValues(7).join())
    const green = result.frames[7]!.data[5 * 3 + 1]!
    expect(target[1024 + 5]).toBe(Math.fround(Math.fround(Math.fround(green / 255) - 0.5) / 0.5))
  })

  it('refuses a frame that is not there and memory of another size', () => {
    const result = cut(picture(40, 30), SMOLVLM, 'high')
    expect(() => result.pixelValues(13)).toThrow(
      'Frame 13 into 3072 floats: expected a frame from 0 to 12 and 3072 floats for 3 x 32 x 32.',
    )
    expect(() => result.pixelValues(0, new Float32Array(3071))).toThrow(
      'Frame 0 into 3071 floats: expected a frame from 0 to 12 and 3072 floats for 3 x 32 x 32.',
    )
  })
})
