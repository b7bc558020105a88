/** Small random models against Transformers (test/golden/whisper/make_whisper.py), stage by stage and token by token. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { largestShare } from '../../../test/support/compare.ts'
import { goldenPath } from '../../../test/support/golden-model.ts'
import { readTensors, type TensorValues } from '../../../test/support/read-tensors.ts'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { loadParts } from '../../../test/support/whisper-parts.ts'
import type { Backend, BufferRef } from '../../backend/backend.ts'
import { createWasmBackend } from '../../backend/wasm/wasm-backend.ts'
import { encodeGguf, type GgufEntry } from '../../formats/gguf/encode-gguf.ts'
import { parseSafetensorsHeader } from '../../formats/safetensors/parse-header.ts'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import { renameWhisperTensor } from '../../models/whisper/weights.ts'
import { decodeUtterance, detectLanguage } from './decode.ts'
import type { WhisperParts } from './recognize-window.ts'

/** As for models of text: sums in another order differ by about 1e-6, a wrong constant by far more. */
const F32_SHARE = 1e-5

interface AddedToken {
  readonly content: string
  readonly id: number
}

const folders = useTemporaryFolders()
let backend: Backend
beforeAll(async () => {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
})
afterAll(() => backend.dispose())

function spectrogram(expected: ReadonlyMap<string, TensorValues>, positions: number): Float32Array {
  const { data, shape } = expected.get('mel') as TensorValues
  return data.slice(0, positions * 2 * (shape[1] as number))
}

async function expectStages(
  { model }: WhisperParts,
  expected: ReadonlyMap<string, TensorValues>,
  run: string,
  positions: number,
): Promise<void> {
  const { dim, decoder } = model.config
  const rows = backend.alloc(positions * dim * 4)
  const actual = new Map<string, Promise<Uint8Array>>()
  const keep = (stage: string, ref: BufferRef): void => {
    // The place is used again by the next stage, so it is read in order.
    actual.set(stage, backend.read(ref, rows.byteLength))
  }
  await model.encode(spectrogram(expected, positions), undefined, keep)
  const headDim = dim / decoder.heads
  for (let layer = 0; layer < decoder.layers; layer++) {
    const { k, v, headStride } = model.soundPlace(layer)
    for (const [name, cache] of [['k', k] as const, ['v', v] as const]) {
      // Heads lie one behind the other there, and side by side in the reference.
      const values = new Float32Array(positions * dim)
      for (let head = 0; head < decoder.heads; head++) {
        const place = { buffer: cache.buffer, byteOffset: cache.byteOffset + head * headStride * headDim * 4 }
        const part = new Float32Array((await backend.read(place, positions * headDim * 4)).buffer)
        for (let row = 0; row < positions; row++)
          values.set(part.subarray(row * headDim, (row + 1) * headDim), row * dim + head * headDim)
      }
      actual.set(`cross.${layer}.${name}`, Promise.resolve(new Uint8Array(values.buffer)))
    }
  }
  const ids = [...(expected.get('ids') as TensorValues).data]
  const logits = await model.run(ids, 0, 'all')
  backend.free(rows)
  const stages = [...expected].filter(([name]) => name.startsWith(`${run}.`) && name !== `${run}.logits`)
  expect([...actual.keys()].sort()).toEqual(stages.map(([name]) => name.slice(run.length + 1)).sort())
  for (const [name, { data }] of stages) {
    const bytes = (await actual.get(name.slice(run.length + 1))) as Uint8Array<ArrayBuffer>
    expect(largestShare(new Float32Array(bytes.buffer), data), name).toBeLessThan(F32_SHARE)
  }
  const wanted = (expected.get(`${run}.logits`) as TensorValues).data
  expect(
    largestShare(
      logits.flatMap((row) => [...row]),
      wanted,
    ),
    'logits',
  ).toBeLessThan(F32_SHARE)
}

describe.each(['multilingual', 'english'])('%s', (name) => {
  const expected = readTensors(goldenPath(`whisper/${name}/expected.safetensors`))
  let parts: WhisperParts
  beforeAll(async () => {
    parts = await loadParts(backend, goldenPath(`whisper/${name}`), 'f32')
  })
  afterAll(() => parts.model.dispose())

  it('gives the same numbers at every stage', () => expectStages(parts, expected, 'full', 100))

  it('gives the same numbers when the sound is trimmed', () => expectStages(parts, expected, 'cut', 37))

  it('gives the same logits token by token, from any position on', async () => {
    const { model } = parts
    await model.encode(spectrogram(expected, 100))
    const ids = [...(expected.get('ids') as TensorValues).data]
    const { data } = expected.get('full.logits') as TensorValues
    const { vocabSize } = model.config
    for (const start of [0, 3]) {
      for (let at = start; at < ids.length; at++) {
        const [row] = await model.run([ids[at] as number], at, 'last')
        const wanted = data.slice(at * vocabSize, (at + 1) * vocabSize)
        expect(largestShare(row as Float32Array, wanted), `token ${at}`).toBeLessThan(F32_SHARE)
      }
    }
  })

  it.each(['text', 'text_times'])('chooses the same tokens (%s)', async (run) => {
    const { model, tokens } = parts
    await model.encode(spectrogram(expected, 100))
    const wanted = [...(expected.get(run) as TensorValues).data]
    const request = {
      model,
      tokens,
      language: name === 'multilingual' ? 'zh' : undefined,
      context: [],
      withTimestamps: run === 'text_times',
      temperature: 0,
      maxTokens: 24,
      signal: undefined,
    }
    // Transformers leaves out what comes behind the last pair of timestamps, since it hears that again.
    const heard = async (changes = {}): Promise<readonly number[]> =>
      (await decodeUtterance({ ...request, ...changes })).ids.slice(0, wanted.length)
    expect(await heard()).toEqual(wanted)
    // A draft that is right, one that goes wrong in the middle, one that goes on too long.
    const wrong = wanted.map((id, index) => (index < 4 ? id : id + 1))
    for (const draft of [wanted, wrong, [...wanted, 5, 6, 7]])
      expect(await heard({ draft }), `draft ${draft}`).toEqual(wanted)
  })
})

describe('multilingual', () => {
  const expected = readTensors(goldenPath('whisper/multilingual/expected.safetensors'))

  it('detects the same language', async () => {
    const { model, tokens } = await loadParts(backend, goldenPath('whisper/multilingual'), 'f32')
    await model.encode(spectrogram(expected, 100))
    const notes = JSON.parse(readFileSync(goldenPath('whisper/multilingual/expected.json'), 'utf8'))
    expect((await detectLanguage(model, tokens, undefined)).code).toBe(notes.language)
    model.dispose()
  })

  it.each([
    ['ggml-f16.bin', 'full.logits'],
    ['ggml-q5_0.bin', 'q5_0.logits'],
  ])('reads %s of whisper.cpp', async (file, run) => {
    const { model, tokenizer } = await loadParts(backend, goldenPath(`whisper/multilingual/${file}`), 'f32')
    const folder = await loadParts(backend, goldenPath('whisper/multilingual'), 'f32')
    await model.encode(spectrogram(expected, 100))
    const logits = await model.run([...(expected.get('ids') as TensorValues).data], 0, 'all')
    const { data } = expected.get(run) as TensorValues
    expect(
      largestShare(
        logits.flatMap((row) => [...row]),
        data,
      ),
    ).toBeLessThan(F32_SHARE)
    const text = ' There are two books. 今天天气很好 <|zh|>'
    expect(tokenizer.encode(text)).toEqual(folder.tokenizer.encode(text))
    expect(tokenizer.tokenToId('<|ru|>')).toBe(folder.tokenizer.tokenToId('<|ru|>'))
    expect(tokenizer.tokenToId('<|notimestamps|>')).toBe(folder.tokenizer.tokenToId('<|notimestamps|>'))
    model.dispose()
    folder.model.dispose()
  })

  it.each(['Hugging Face', 'whisper.cpp'])('reads GGUF files with the names of %s', async (names) => {
    const bytes = readFileSync(goldenPath('whisper/multilingual/model.safetensors'))
    const data = bytes.subarray(8 + Number(bytes.readBigUInt64LE(0)))
    const entries = parseSafetensorsHeader(
      'model',
      bytes.subarray(8, bytes.length - data.length),
      data.length,
    )
    const gguf = encodeGguf({
      metadata: new Map<string, GgufEntry>([
        ['general.architecture', { type: 'string', value: 'whisper' }],
        ['whisper.encoder.attention.head_count', { type: 'u32', value: 2 }],
        ['whisper.decoder.attention.head_count', { type: 'u32', value: 2 }],
      ]),
      tensors: entries.map(({ name, type, shape, relativeOffset, byteLength }) => ({
        name: names === 'whisper.cpp' ? (renameWhisperTensor(name) as string) : name,
        type,
        shape,
        data: data.subarray(relativeOffset, relativeOffset + byteLength),
      })),
    })
    const folder = folders.create({
      'whisper.gguf': gguf,
      'tokenizer.json': readFileSync(goldenPath('whisper/multilingual/tokenizer.json')),
    })
    const { model } = await loadParts(backend, `${folder}/whisper.gguf`, 'f32')
    await model.encode(spectrogram(expected, 100))
    const logits = await model.run([...(expected.get('ids') as TensorValues).data], 0, 'all')
    const { data: wanted } = expected.get('full.logits') as TensorValues
    expect(
      largestShare(
        logits.flatMap((row) => [...row]),
        wanted,
      ),
    ).toBeLessThan(F32_SHARE)
    model.dispose()
  })

  it('reads the older files of a vocabulary', async () => {
    const {
      model: { vocab, merges },
      added_tokens,
    } = JSON.parse(readFileSync(goldenPath('whisper/multilingual/tokenizer.json'), 'utf8'))
    const added = Object.fromEntries(added_tokens.map((token: AddedToken) => [token.content, token.id]))
    const folder = folders.copy(goldenPath('whisper/multilingual'), {
      'tokenizer.json': undefined,
      'vocab.json': JSON.stringify(vocab),
      'merges.txt': `#version: 0.2\n${merges.map((merge: string[] | string) => (typeof merge === 'string' ? merge : merge.join(' '))).join('\n')}\n`,
      'added_tokens.json': JSON.stringify(added),
    })
    const older = await loadParts(backend, folder, 'auto')
    const newer = await loadParts(backend, goldenPath('whisper/multilingual'), 'auto')
    const text = ' There are two books. 今天天气很好 <|zh|>'
    expect(older.tokenizer.encode(text)).toEqual(newer.tokenizer.encode(text))
    expect(older.tokens).toEqual(newer.tokens)
    older.model.dispose()
    newer.model.dispose()
  })

  it('gives back all that it took', async () => {
    const before = backend.allocatedBytes
    const { model } = await loadParts(backend, goldenPath('whisper/multilingual'), 'auto')
    await model.encode(spectrogram(expected, 100))
    await model.run([1, 2, 3], 0, 'all')
    expect(model.allocatedBytes / (backend.allocatedBytes - before)).toBeCloseTo(1, 3) // but for alignment
    model.dispose()
    expect(backend.allocatedBytes).toBe(before)
  })
})
