import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePreprocessorConfig, preprocessorFromProjector } from './preprocessor-config.ts'

const HALF = [0.5, 0.5, 0.5]
const CLIP_MEAN = [0.48145466, 0.4578275, 0.40821073]
const CLIP_STD = [0.26862954, 0.26130258, 0.27577711]

function parse(value: unknown, processor?: unknown): unknown {
  return parsePreprocessorConfig({
    preprocessor: { name: 'preprocessor_config.json', value },
    processor: processor === undefined ? undefined : { name: 'processor_config.json', value: processor },
  })
}

function golden(folder: string, name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../test/golden/${folder}/${name}`, import.meta.url), 'utf8'))
}

describe('parsePreprocessorConfig reads', () => {
  it('SmolVLM files', () => {
    expect(
      parse(golden('smolvlm', 'preprocessor_config.json'), golden('smolvlm', 'processor_config.json')),
    ).toEqual({
      kind: 'idefics3',
      resize: true,
      longestEdge: 128,
      tileEdge: 32,
      split: true,
      filter: 'lanczos',
      normalization: { rescaleFactor: 0.00392156862745098, mean: HALF, std: HALF },
      tokensPerFrame: 4,
    })
  })

  it('LLaVA files', () => {
    expect(
      parse(golden('llava', 'preprocessor_config.json'), golden('llava', 'processor_config.json')),
    ).toEqual({
      kind: 'clip',
      resize: { shortestEdge: 56 },
      crop: { width: 56, height: 56 },
      filter: 'bicubic',
      normalization: { rescaleFactor: 0.00392156862745098, mean: CLIP_MEAN, std: CLIP_STD },
    })
  })

  it.each([
    'Idefics3ImageProcessor',
    'Idefics3ImageProcessorFast',
    'Idefics3ImageProcessorPil',
    'SmolVLMImageProcessor',
    'SmolVLMImageProcessorFast',
  ])('%s with the defaults of the reference', (type) => {
    expect(parse({ image_processor_type: type, size: null })).toEqual({
      kind: 'idefics3',
      resize: true,
      longestEdge: 1456,
      tileEdge: 364,
      split: true,
      filter: 'lanczos',
      normalization: { rescaleFactor: 1 / 255, mean: HALF, std: HALF },
      tokensPerFrame: undefined,
    })
  })

  it.each([
    { image_processor_type: 'CLIPImageProcessor' },
    { image_processor_type: 'LlavaImageProcessorFast', do_pad: false },
    { feature_extractor_type: 'CLIPFeatureExtractor', size: 224, crop_size: 224 },
    {},
  ])('%j with the defaults of the reference', (value) => {
    expect(parse(value)).toEqual({
      kind: 'clip',
      resize: { shortestEdge: 224 },
      crop: { width: 224, height: 224 },
      filter: 'bicubic',
      normalization: { rescaleFactor: 1 / 255, mean: CLIP_MEAN, std: CLIP_STD },
    })
  })

  it('a file without a class by its keys', () => {
    expect(parse({ do_image_splitting: false })).toMatchObject({ kind: 'idefics3', split: false })
    expect(parse({ max_image_size: { longest_edge: 384 } })).toMatchObject({
      kind: 'idefics3',
      tileEdge: 384,
    })
  })

  it('the settings inside processor_config.json, which count before the other file', () => {
    const inner = {
      image_processor_type: 'SmolVLMImageProcessor',
      max_image_size: { longest_edge: 512 },
      size: { longest_edge: 2048 },
    }
    const processor = { image_seq_len: 64, image_processor: inner }
    expect(parse({ image_processor_type: 'CLIPImageProcessor' }, processor)).toMatchObject({
      kind: 'idefics3',
      longestEdge: 2048,
      tileEdge: 512,
      tokensPerFrame: 64,
    })
  })

  it('every switch', () => {
    const off = {
      do_resize: false,
      do_center_crop: false,
      do_rescale: false,
      do_normalize: false,
      resample: 2,
    }
    expect(parse({ image_processor_type: 'CLIPImageProcessor', ...off })).toEqual({
      kind: 'clip',
      resize: undefined,
      crop: undefined,
      filter: 'bilinear',
      normalization: { rescaleFactor: 1, mean: [0, 0, 0], std: [1, 1, 1] },
    })
    expect(parse({ image_processor_type: 'Idefics3ImageProcessor', ...off })).toMatchObject({
      resize: false,
      filter: 'bilinear',
      normalization: { rescaleFactor: 1, mean: [0, 0, 0], std: [1, 1, 1] },
    })
  })

  it('a size of two sides and one number for three channels', () => {
    expect(parse({ size: { height: 10, width: 20 }, image_mean: 0.25, image_std: 2 })).toMatchObject({
      resize: { width: 20, height: 10 },
      normalization: { mean: [0.25, 0.25, 0.25], std: [2, 2, 2] },
    })
  })
})

describe('parsePreprocessorConfig refuses', () => {
  it('a model without any settings', () => {
    expect(() =>
      parsePreprocessorConfig({ processor: { name: 'processor_config.json', value: {} } }),
    ).toThrow('The model says nothing about pictures: expected preprocessor_config.json, found none.')
  })

  it('an unknown kind of processor', () => {
    expect(() => parse({ image_processor_type: 'Qwen2VLImageProcessor' })).toThrow(
      'preprocessor_config.json: "image_processor_type": expected one of Idefics3ImageProcessor, ' +
        'SmolVLMImageProcessor, CLIPImageProcessor, CLIPFeatureExtractor, LlavaImageProcessor, found "Qwen2VLImageProcessor".',
    )
  })

  const TILED = { image_processor_type: 'Idefics3ImageProcessor' }
  it.each([
    [[], 'preprocessor_config.json: expected a JSON object, found [].'],
    [{ size: [1] }, 'preprocessor_config.json: expected a JSON object in "size", found [1].'],
    [{ size: 0 }, '"size": expected a whole number of pixels from 1 to 4096, found 0.'],
    [
      { size: { shortest_edge: 1e9 } },
      '"size.shortest_edge": expected a whole number of pixels from 1 to 4096, found 1000000000.',
    ],
    [
      { size: { shortest_edge: 5, longest_edge: 9 } },
      '"size.longest_edge": expected no such field beside "shortest_edge", found 9.',
    ],
    [{ size: { height: 5 } }, '"size.width": expected a number of pixels, found nothing.'],
    [
      { crop_size: { height: 5, width: 2.5 } },
      '"crop_size.width": expected a whole number of pixels from 1 to 4096, found 2.5.',
    ],
    [{ resample: 9 }, '"resample": expected a Pillow filter number from 0 to 5, found 9.'],
    [{ image_mean: [1, 2] }, '"image_mean": expected three numbers, found [1,2].'],
    [{ image_mean: [1, 2, 'x'] }, '"image_mean": expected three numbers, found [1,2,"x"].'],
    [{ image_std: [1, 0, 1] }, '"image_std": expected three numbers above 0, found [1,0,1].'],
    [{ rescale_factor: 0 }, '"rescale_factor": expected a number above 0, found 0.'],
    [{ do_resize: 'yes' }, '"do_resize": expected true or false, found "yes".'],
    [{ do_pad: true }, '"do_pad": expected false: padding to a square is not supported, found true.'],
    [{ image_processor_type: 5 }, '"image_processor_type": expected text, found 5.'],
    [
      { ...TILED, size: { shortest_edge: 5 } },
      '"size.longest_edge": expected a number of pixels, found nothing.',
    ],
    [
      { ...TILED, size: { longest_edge: -5 } },
      '"size.longest_edge": expected a whole number of at least 1, found -5.',
    ],
    [
      { ...TILED, max_image_size: { longest_edge: 1e6 } },
      '"max_image_size.longest_edge": expected a whole number of pixels from 1 to 4096, found 1000000.',
    ],
  ])('%j', (value, message) => {
    expect(() => parse(value)).toThrow(message)
    expect(() => parse(value)).toThrow(expect.objectContaining({ code: 'config/invalid-value' }))
  })

  it('a wrong field of the other file by that file', () => {
    expect(() => parse(TILED, { image_seq_len: 'x' })).toThrow(
      'processor_config.json: "image_seq_len": expected a whole number of at least 1, found "x".',
    )
    expect(() => parse(TILED, { image_processor: { ...TILED, do_resize: 1 } })).toThrow(
      'processor_config.json: "image_processor.do_resize": expected true or false, found 1.',
    )
  })
})

describe('preprocessorFromProjector', () => {
  it('makes SmolVLM settings', () => {
    const keys = { projector: 'idefics3', imageSize: 512, mean: HALF, std: HALF } as const
    const expected = {
      kind: 'idefics3',
      resize: true,
      longestEdge: 2048,
      tileEdge: 512,
      split: true,
      filter: 'lanczos',
      normalization: { rescaleFactor: 1 / 255, mean: HALF, std: HALF },
      tokensPerFrame: undefined,
    }
    expect(preprocessorFromProjector(keys, 'mmproj.gguf')).toEqual(expected)
    expect(preprocessorFromProjector({ ...keys, longestEdge: 0 }, 'mmproj.gguf')).toEqual(expected)
    expect(preprocessorFromProjector({ ...keys, longestEdge: 1024 }, 'mmproj.gguf')).toEqual({
      ...expected,
      longestEdge: 1024,
    })
  })

  it('makes LLaVA settings', () => {
    expect(
      preprocessorFromProjector(
        { projector: 'mlp', imageSize: 336, mean: CLIP_MEAN, std: CLIP_STD },
        'mmproj.gguf',
      ),
    ).toEqual({
      kind: 'clip',
      resize: { shortestEdge: 336 },
      crop: { width: 336, height: 336 },
      filter: 'bicubic',
      normalization: { rescaleFactor: 1 / 255, mean: CLIP_MEAN, std: CLIP_STD },
    })
  })

  it('refuses numbers that cannot be, by the name of the key', () => {
    expect(() =>
      preprocessorFromProjector({ projector: 'mlp', imageSize: 0, mean: HALF, std: HALF }, 'mmproj.gguf'),
    ).toThrow(
      'mmproj.gguf: "clip.vision.image_size": expected a whole number of pixels from 1 to 4096, found 0.',
    )
    expect(() =>
      preprocessorFromProjector(
        { projector: 'mlp', imageSize: 5, mean: HALF, std: [1, 1, 0] },
        'mmproj.gguf',
      ),
    ).toThrow('mmproj.gguf: "clip.vision.image_std": expected three numbers above 0, found [1,1,0].')
  })
})
