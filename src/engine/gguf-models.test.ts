/** GGUF models through the whole engine: the reference models converted, and random ones of every type of block. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { largestShare } from '../../test/support/compare.ts'
import {
  encodeModel,
  entries,
  type GgufModel,
  matricesAs,
  projectorModel,
  textModel,
  tokenizerKeys,
} from '../../test/support/gguf-from-checkpoint.ts'
import { goldenPath, readGoldenRuns } from '../../test/support/golden-model.ts'
import { expectStages, F32_SHARE, type Stages, traceRun } from '../../test/support/golden-stages.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import { randomBlocks } from '../../test/support/random-blocks.ts'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { encodeGguf } from '../formats/gguf/encode-gguf.ts'
import { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { decodeBlocks } from '../quant/decode.ts'
import { encodeBlocks } from '../quant/encode.ts'
import type { TensorType } from '../quant/tensor-types.ts'
import { readBytes } from '../shared/byte-source.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { AssembleOptions } from './assemble-model.ts'
import { runTrace } from './trace.ts'

const folders = useTemporaryFolders()

let backend: Backend
beforeAll(async () => {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
})
afterAll(() => backend.dispose())

describe('the converter of these tests equals the Python package', () => {
  it.each([
    ['odd-smolvlm-f16.gguf', () => textModel(goldenPath('odd/smolvlm'))],
    ['mmproj-odd-smolvlm-f16.gguf', () => projectorModel(goldenPath('odd/smolvlm'))],
    ['mmproj-llava-f16.gguf', () => projectorModel(goldenPath('llava'))],
    ['llama3-f16.gguf', () => textModel(goldenPath('llama3'))],
    ['odd-qwen2-f16.gguf', () => textModel(goldenPath('odd/qwen2'))],
  ] as const)('%s', async (name, convert) => {
    const expected = await contentOf(readFileSync(goldenPath(`gguf/${name}`)))
    const actual = await contentOf(encodeModel(convert(), matricesAs('F16')))
    expect(actual.tensors.keys()).toEqual(expected.tensors.keys())
    for (const [tensor, bytes] of expected.tensors)
      expect(Buffer.compare(actual.tensors.get(tensor)!, bytes), tensor).toBe(0)
    expect(actual.metadata).toEqual(expected.metadata)
  })
})

/** Keys in order, and each tensor's type, shape and bytes. */
async function contentOf(file: Uint8Array): Promise<{ metadata: unknown[]; tensors: Map<string, Buffer> }> {
  const gguf: GgufFile = await loadGguf(createMemorySource('a.gguf', file))
  const names = [...gguf.tensors.keys()].sort()
  const tensors = new Map<string, Buffer>()
  for (const name of names) {
    const { type, shape, byteOffset, byteLength, source } = gguf.tensors.get(name)!
    tensors.set(`${name} ${type} ${shape}`, Buffer.from(await readBytes(source, byteOffset, byteLength)))
  }
  return { metadata: [...gguf.metadata].sort(([a], [b]) => (a < b ? -1 : 1)), tensors }
}

/** Writes the files to a folder and traces the first run of a golden model. */
async function traceFiles(
  files: Readonly<Record<string, Uint8Array>>,
  model: string,
  options: AssembleOptions = { precision: 'f32' },
  run = readGoldenRuns(model)[0]!,
): Promise<Stages> {
  const folder = folders.create(files)
  const loaded = await loadOnBackend(backend, `${folder}/${Object.keys(files)[0]}`, options)
  try {
    return await traceRun(loaded, run)
  } finally {
    loaded.model.dispose()
  }
}

describe('F32 files equal the reference', () => {
  it.each(['llama3', 'qwen2', 'qwen3', 'odd/qwen2'])('%s', async (model) => {
    const file = encodeModel(textModel(goldenPath(model)))
    for (const run of readGoldenRuns(model))
      expectStages(await traceFiles({ 'model.gguf': file }, model, undefined, run), run)
  })

  it.each(['smolvlm', 'smolvlm-one-tile', 'odd/smolvlm', 'llava'])(
    '%s, its projector found by what it is',
    async (model) => {
      const files = {
        'a-text-model.gguf': encodeModel(textModel(goldenPath(model))),
        'qwen3-8b.gguf': encodeModel(projectorModel(goldenPath(model))),
      }
      for (const run of readGoldenRuns(model))
        expectStages(await traceFiles(files, model, undefined, run), run)
    },
  )

  it('split over three files', async () => {
    const { metadata, tensors } = textModel(goldenPath('qwen3'))
    const all = [...tensors]
    const files: Record<string, Uint8Array> = {}
    for (let part = 0; part < 3; part++) {
      const own = new Map(all.filter((_, index) => index % 3 === part))
      const split = entries({
        'split.no': ['u16', part],
        'split.count': ['u16', 3],
        'split.tensors.count': ['i32', all.length],
      })
      const keys = part === 0 ? new Map([...metadata, ...split]) : split
      files[`qwen3-0000${part + 1}-of-00003.gguf`] = encodeModel({ metadata: keys, tensors: own })
    }
    const [run] = readGoldenRuns('qwen3')
    expectStages(await traceFiles(files, 'qwen3'), run!)
  })
})

describe('files of older converters', () => {
  const llava = (): { text: GgufModel; projector: GgufModel } => ({
    text: textModel(goldenPath('llava')),
    projector: projectorModel(goldenPath('llava')),
  })
  const encode = ({ text, projector }: { text: GgufModel; projector: GgufModel }) => ({
    'model.gguf': encodeModel(text),
    'mmproj.gguf': encodeModel(projector),
  })

  it('feed-forward matrices under each other’s names', async () => {
    const { text, projector } = llava()
    const swapped = new Map(
      [...projector.tensors].map(([name, values]) => [
        name.replace(/ffn_(up|down)/, (_, part) => `ffn_${part === 'up' ? 'down' : 'up'}`),
        values,
      ]),
    )
    const files = encode({ text, projector: { ...projector, tensors: swapped } })
    expectStages(await traceFiles(files, 'llava'), readGoldenRuns('llava')[0]!)
  })

  it('the layer whose features count stated, layers above it dropped', async () => {
    const { text, projector } = llava()
    projector.metadata.set('clip.vision.feature_layer', { type: 'i32[]', value: Int32Array.of(2) })
    projector.metadata.set('clip.vision.block_count', { type: 'u32', value: 2 })
    for (const name of projector.tensors.keys())
      if (name.startsWith('v.blk.2.')) projector.tensors.delete(name)
    expectStages(await traceFiles(encode({ text, projector }), 'llava'), readGoldenRuns('llava')[0]!)
  })

  it('a vocabulary without an image token: the picture’s rows still lie where the reference has them', async () => {
    const { text, projector } = llava()
    const tokens = text.metadata.get('tokenizer.ggml.tokens')!.value as string[]
    text.metadata.set('tokenizer.ggml.tokens', {
      type: 'string[]',
      value: tokens.map((token) => (token === '<image>' ? '<unused>' : token)),
    })
    const [run] = readGoldenRuns('llava')
    const stages = await traceFiles(encode({ text, projector }), 'llava')
    expect(largestShare(stages.get('logits')!.data, run!.stages.get('logits')!.data)).toBeLessThan(F32_SHARE)
    expect(stages.get('greedy')!.data).toEqual(Int32Array.from(run!.stages.get('greedy')!.data))
  })

  it('no size for pictures: four tiles along the long side, as released models have', async () => {
    const text = encodeModel(textModel(goldenPath('smolvlm')))
    const projector = projectorModel(goldenPath('smolvlm'))
    projector.metadata.delete('clip.vision.preproc_image_size')
    const files = { 'model.gguf': text, 'mmproj.gguf': encodeModel(projector) }
    expectStages(await traceFiles(files, 'smolvlm'), readGoldenRuns('smolvlm')[0]!)
  })
})

/** Types that a decoder's matrices may have in a file. */
const TYPES: readonly TensorType[] = [
  ...(['F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K', 'IQ4_NL'] as const),
  // Decoded on loading.
  ...(['Q2_K', 'Q3_K', 'IQ4_XS', 'MXFP4'] as const),
]
/** Kept in float arithmetic whatever the precision. */
const FLOATS: readonly TensorType[] = ['F16', 'BF16']

/** Int8 activations, and int8 weights where a type is decoded on loading: about two digits through one layer. */
const INT8_SHARE = 0.03

describe('every type of block', () => {
  const random = new SeededRandom(11)
  const shapes: [string, number[]][] = [
    ['token_embd.weight', [2048, 256]],
    ['output.weight', [2048, 256]],
    ['blk.0.attn_q.weight', [256, 256]],
    ['blk.0.attn_k.weight', [128, 256]],
    ['blk.0.attn_v.weight', [128, 256]],
    ['blk.0.attn_output.weight', [256, 256]],
    ['blk.0.ffn_gate.weight', [512, 256]],
    ['blk.0.ffn_up.weight', [512, 256]],
    ['blk.0.ffn_down.weight', [256, 512]],
  ]
  const norms = ['output_norm', 'blk.0.attn_norm', 'blk.0.ffn_norm'].map((name) => ({
    name: `${name}.weight`,
    type: 'F32' as const,
    shape: [256],
    data: new Uint8Array(Float32Array.from({ length: 256 }, () => 1 + random.normal() / 5).buffer),
  }))
  const metadata = new Map([
    ...entries({
      'general.architecture': ['string', 'llama'],
      'llama.context_length': ['u32', 256],
      'llama.embedding_length': ['u32', 256],
      'llama.block_count': ['u32', 1],
      'llama.feed_forward_length': ['u32', 512],
      'llama.attention.head_count': ['u32', 4],
      'llama.attention.head_count_kv': ['u32', 2],
      'llama.attention.layer_norm_rms_epsilon': ['f32', 1e-5],
    }),
    ...tokenizerKeys(goldenPath('qwen3')),
  ])

  async function logitsOf(file: Uint8Array, precision: 'auto' | 'f32'): Promise<ArrayLike<number>> {
    const folder = folders.create({ 'model.gguf': file })
    const loaded = await loadOnBackend(backend, `${folder}/model.gguf`, { precision })
    try {
      const stages = await runTrace(loaded, { prompt: 'How many cats are there in it?', greedyTokens: 0 })
      return stages.find(({ name }) => name === 'logits')!.data
    } finally {
      loaded.model.dispose()
    }
  }

  it.each(TYPES)('%s computes what its values say', async (type) => {
    const tensors = shapes.map(([name, shape]) => {
      const elements = shape[0]! * shape[1]!
      const deviation = name === 'token_embd.weight' ? 0.5 : 0.06
      const data = FLOATS.includes(type)
        ? encodeBlocks(
            type,
            Float32Array.from({ length: elements }, () => random.normal() * deviation),
          )
        : randomBlocks(type, elements, deviation, random)
      return { name, type, shape, data }
    })
    const decoded = tensors.map(({ name, shape, data }) => {
      const values = new Float32Array(shape[0]! * shape[1]!)
      decodeBlocks(type, data, values)
      return { name, type: 'F32' as const, shape, data: new Uint8Array(values.buffer) }
    })
    const file = encodeGguf({ metadata, tensors: [...tensors, ...norms] })
    const expected = await logitsOf(encodeGguf({ metadata, tensors: [...decoded, ...norms] }), 'f32')
    expect(largestShare(await logitsOf(file, 'f32'), expected)).toBeLessThan(F32_SHARE)
    const asStored = largestShare(await logitsOf(file, 'auto'), expected)
    // Keys and values are kept in f16 then.
    expect(asStored).toBeLessThan(FLOATS.includes(type) ? 1e-3 : INT8_SHARE)
  })

  it('a type without a decoder is refused by name', async () => {
    const tensors = shapes.map(([name, shape]) => ({
      name,
      type: 'TQ2_0' as const,
      shape,
      data: new Uint8Array((shape[0]! * shape[1]! * 66) / 256),
    }))
    await expect(
      logitsOf(encodeGguf({ metadata, tensors: [...tensors, ...norms] }), 'auto'),
    ).rejects.toMatchObject({
      code: 'format/unsupported-tensor-type',
      message: expect.stringMatching(
        /model\.gguf: tensor "token_embd\.weight" has the type TQ2_0, which is not supported\.$/,
      ),
    })
  })
})

describe('quantised vision', () => {
  it.each(['Q8_0', 'Q5_1', 'Q4_0', 'BF16'] as const)('%s', async (type) => {
    const text = encodeModel(textModel(goldenPath('smolvlm')))
    const projector = projectorModel(goldenPath('smolvlm'))
    const quantized = matricesAs(type)
    const decoded: GgufModel = {
      ...projector,
      tensors: new Map(
        [...projector.tensors].map(([name, { shape, data }]) => {
          const stored = quantized(name, shape)
          const values = new Float32Array(data.length)
          decodeBlocks(stored, encodeBlocks(stored, data), values)
          return [name, { shape, data: values }]
        }),
      ),
    }
    const reference = await traceFiles({ 'a.gguf': text, 'b.gguf': encodeModel(decoded) }, 'smolvlm')
    const files = { 'a.gguf': text, 'b.gguf': encodeModel(projector, quantized) }
    const features = (stages: Stages): ArrayLike<number> => stages.get('image_features')!.data
    const exact = await traceFiles(files, 'smolvlm')
    expect(largestShare(features(exact), features(reference))).toBeLessThan(F32_SHARE)
    const asStored = await traceFiles(files, 'smolvlm', { precision: 'auto' })
    expect(largestShare(features(asStored), features(reference))).toBeLessThan(INT8_SHARE)
  })
})

it('gives back all memory of the backend', () => {
  expect(backend.allocatedBytes).toBe(0)
})
