import { describe, expect, it } from 'vitest'
import { chooseFiles } from './choose-files.ts'

const SMALL = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
]
const OTHERS = [
  'README.md',
  'onnx/model.onnx',
  'vocab.json',
  'merges.txt',
  'special_tokens_map.json',
  'training_args.bin',
]
const choose = (paths: readonly string[], ...wanted: string[]) => chooseFiles('o/n', paths, wanted)

describe('a folder model', () => {
  it('of one file', () => {
    expect(choose([...OTHERS, ...SMALL, 'model.safetensors', 'onnx/a.safetensors'])).toEqual({
      variant: 'safetensors',
      paths: [...SMALL, 'model.safetensors'],
    })
  })

  it('of several files with their index', () => {
    const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    const paths = [...SMALL, ...shards, 'model.safetensors.index.json', 'consolidated.safetensors']
    const expected = { variant: 'safetensors', paths: [...SMALL, 'model.safetensors.index.json', ...shards] }
    expect(choose(paths)).toEqual(expected)
    expect(choose(paths, 'model-00002-of-00002.safetensors')).toEqual(expected)
  })

  it('of one file with any name', () => {
    expect(choose(['config.json', 'weights.safetensors'])).toEqual({
      variant: 'weights',
      paths: ['config.json', 'weights.safetensors'],
    })
  })

  it('lacks a part', () => {
    const paths = [
      'config.json',
      'model.safetensors.index.json',
      'model-00001-of-00003.safetensors',
      'model-00003-of-00003.safetensors',
    ]
    expect(() => choose(paths)).toThrow('o/n lacks model-00002-of-00003.safetensors of 4 parts.')
  })

  it('is ambiguous', () => {
    expect(() => choose(['config.json', 'a.safetensors', 'b.safetensors'])).toThrow(
      'o/n: expected one file or one set of safetensors, found a.safetensors, b.safetensors.',
    )
    expect(choose(['config.json', 'a.safetensors', 'b.safetensors'], 'b.safetensors').paths).toEqual([
      'config.json',
      'b.safetensors',
    ])
  })

  it('does not lie in a folder', () => {
    expect(() =>
      choose(['config.json', 'model.safetensors', 'onnx/a.safetensors'], 'onnx/a.safetensors'),
    ).toThrow(
      'o/n: onnx/a.safetensors lies in a folder of the repository; expected weights beside config.json.',
    )
  })
})

describe('a GGUF model', () => {
  const PAIR = ['a-Q8_0.gguf', 'a-f16.gguf', 'mmproj-a-Q8_0.gguf', 'mmproj-a-f16.gguf', 'README.md']

  it('is a text model and a projector', () => {
    expect(choose(PAIR)).toEqual({
      variant: 'a-Q8_0+mmproj-a-Q8_0',
      paths: ['a-Q8_0.gguf', 'mmproj-a-Q8_0.gguf'],
    })
  })

  it('prefers four bits for the text and eight for the projector', () => {
    expect(choose([...PAIR, 'a-Q4_K_M.gguf', 'mmproj-a-Q4_K_M.gguf']).paths).toEqual([
      'a-Q4_K_M.gguf',
      'mmproj-a-Q8_0.gguf',
    ])
  })

  it.each([
    [['a-f16.gguf'], ['a-f16.gguf', 'mmproj-a-Q8_0.gguf']],
    [['F16'], ['a-f16.gguf', 'mmproj-a-Q8_0.gguf']],
    [['mmproj-a-f16.gguf'], ['a-Q8_0.gguf', 'mmproj-a-f16.gguf']],
    [
      ['f16', 'mmproj-a-f16.gguf'],
      ['a-f16.gguf', 'mmproj-a-f16.gguf'],
    ],
  ])('takes what is named: %j', (wanted, expected) => {
    expect(choose(PAIR, ...wanted).paths).toEqual(expected)
  })

  it('pairs the projector of the same model', () => {
    const paths = [
      'big-7B-Q8_0.gguf',
      'big-2B-Q8_0.gguf',
      'mmproj-big-2B-f16.gguf',
      'mmproj-big-7B-Q8_0.gguf',
    ]
    expect(choose(paths, 'big-2B-Q8_0.gguf').paths).toEqual(['big-2B-Q8_0.gguf', 'mmproj-big-2B-f16.gguf'])
    expect(choose(paths, 'big-7B-Q8_0.gguf').paths).toEqual(['big-7B-Q8_0.gguf', 'mmproj-big-7B-Q8_0.gguf'])
  })

  it('may have no projector, many parts, a folder', () => {
    const parts = ['Q4_K_M/a-Q4_K_M-00001-of-00002.gguf', 'Q4_K_M/a-Q4_K_M-00002-of-00002.gguf']
    const expected = { variant: 'a-Q4_K_M', paths: parts }
    expect(choose(['b-Q2_K.gguf', ...parts])).toEqual(expected)
    expect(choose(['b-Q2_K.gguf', ...parts], 'Q4_K_M')).toEqual(expected)
    expect(() => choose(parts.slice(0, 1))).toThrow(`o/n lacks ${parts[1]} of 2 parts.`)
  })

  it('gives way to safetensors unless it is named', () => {
    const paths = ['config.json', 'model.safetensors', 'a-Q8_0.gguf']
    expect(choose(paths).variant).toBe('safetensors')
    expect(choose(paths, 'Q8_0').paths).toEqual(['a-Q8_0.gguf'])
  })

  it('is one, with one projector', () => {
    expect(() => choose(PAIR, 'a-Q8_0.gguf', 'a-f16.gguf')).toThrow(
      'o/n: expected one text model and one projector, found a-Q8_0.gguf, a-f16.gguf.',
    )
  })
})

describe('nothing to choose', () => {
  it.each([
    [['README.md'], 'o/n: expected safetensors with config.json or .gguf files, found README.md.'],
    [[], 'o/n: expected safetensors with config.json or .gguf files, found none.'],
    [
      ['config.json', 'pytorch_model.bin'],
      'o/n has its weights only as pickle files (pytorch_model.bin), which can run programs when they are opened.',
    ],
    [['mmproj-a.gguf'], 'o/n: expected safetensors with config.json or .gguf files, found mmproj-a.gguf.'],
  ])('%j', (paths, message) => {
    expect(() => choose(paths)).toThrow(expect.objectContaining({ code: 'hub/no-weights', message }))
  })

  it('names what fits a wish twice', () => {
    expect(() => choose(['a-Q8_0.gguf', 'b-Q8_0.gguf'], 'Q8_0')).toThrow(
      'o/n has 2 files for "Q8_0": a-Q8_0.gguf, b-Q8_0.gguf.',
    )
  })
})
