import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import { createReferenceBackend } from '../../backend/reference/reference-backend.ts'
import { createWasmBackend } from '../../backend/wasm/wasm-backend.ts'
import { loadOnnx } from '../../formats/onnx/load-onnx.ts'
import { loadSafetensors } from '../../formats/safetensors/load-safetensors.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { inferVitsConfig, parseVitsConfig, type VitsConfig } from './config.ts'
import { type SpeakRequest, Vits } from './vits.ts'
import { namePiperTensors, renameVitsTensor } from './weights.ts'

const GOLDEN = new URL('../../../test/golden/vits/', import.meta.url)
const read = (path: string) => new Uint8Array(readFileSync(new URL(path, GOLDEN)))
const json = (path: string) => JSON.parse(new TextDecoder().decode(read(path)))

interface Golden {
  readonly ids: number[]
  readonly speaker?: number
  stage(name: string): Float32Array
  has(name: string): boolean
}

function golden(folder: string): Golden {
  const { ids, speaker, stages } = json(`${folder}/stages.json`)
  const all = new Float32Array(read(`${folder}/stages.f32`).buffer)
  return {
    ids,
    speaker,
    has: (name) => name in stages,
    stage: (name) => {
      const { shape, offset } = stages[name]
      return all.subarray(offset, offset + shape.reduce((a: number, b: number) => a * b, 1))
    },
  }
}

async function openHuggingFace(): Promise<[VitsConfig, Map<string, TensorInfo>]> {
  const tensors = await loadSafetensors(createMemorySource('model.safetensors', read('hf/model.safetensors')))
  return [
    parseVitsConfig(json('hf/config.json'), 'config.json'),
    new Map([...tensors].map(([name, info]) => [renameVitsTensor(name), info])),
  ]
}

async function openPiper(): Promise<[VitsConfig, Map<string, TensorInfo>]> {
  const file = await loadOnnx(createMemorySource('voice.onnx', read('piper/voice.onnx')))
  const tensors = namePiperTensors(file)
  const settings = { sampleRate: 16000, noise: 0.667, durationNoise: 0.8, lengthScale: 1 }
  return [inferVitsConfig('voice.onnx', (name) => tensors.get(name)?.shape, file.nodes, settings), tensors]
}

const VOICES = { hf: openHuggingFace, piper: openPiper } as const
type VoiceName = keyof typeof VOICES

const backends: Backend[] = []
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.dispose()
})

async function load(name: VoiceName, backend: Backend): Promise<Vits> {
  backends.push(backend)
  const [config, tensors] = await VOICES[name]()
  return Vits.load(backend, config, tensors, { name, type: 'F32', speaker: golden(name).speaker ?? 0 })
}

/** The noise that the reference drew. */
function recordedNoise(vectors: Golden): SpeakRequest['noise'] {
  const parts = [vectors.stage('noise_duration'), vectors.stage('noise_prior')]
  return (count) => {
    const noise = parts.shift()!
    expect(noise.length).toBe(count)
    return noise.slice()
  }
}

async function collect(pieces: AsyncIterable<Float32Array>): Promise<Float32Array> {
  const all: number[] = []
  for await (const piece of pieces) all.push(...piece)
  return Float32Array.from(all)
}

function expectClose(name: string, found: Float32Array, expected: Float32Array): void {
  expect(found.length, name).toBe(expected.length)
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const worst = found.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0)
  expect(worst / largest, `${name}: largest difference as a share of the largest value`).toBeLessThan(2e-5)
}

const DRIVERS = {
  reference: async () => createReferenceBackend(),
  wasm: () => createWasmBackend(createNodeWorkerHost(), { threads: 2 }),
}

describe.each(Object.entries(DRIVERS))('a VITS voice on %s', (_, createBackend) => {
  it.each(Object.keys(VOICES) as VoiceName[])('%s: every stage as in Transformers', async (name) => {
    const vectors = golden(name)
    const voice = await load(name, await createBackend())
    const stages = new Map<string, Float32Array>()
    const waveform = await collect(
      voice.speak({
        symbols: Int32Array.from(vectors.ids),
        noise: recordedNoise(vectors),
        onStage: (stage, values) => stages.set(stage, values),
      }),
    )
    // The reference shows the first convolution without what the speaker adds to it.
    const first = vectors.speaker === undefined ? ['decoder_pre'] : []
    for (const stage of ['text_hidden', 'log_duration', 'latents', ...first, 'decoder_up0', 'decoder_up1']) {
      expectClose(stage, stages.get(stage)!, vectors.stage(stage))
    }
    expectClose('waveform', waveform, vectors.stage('waveform'))
  })

  it.each(Object.keys(VOICES) as VoiceName[])('%s: pieces together are the whole', async (name) => {
    const vectors = golden(name)
    const voice = await load(name, await createBackend())
    const pieces: Float32Array[] = []
    for await (const piece of voice.speak({
      symbols: Int32Array.from(vectors.ids),
      noise: recordedNoise(vectors),
      pieceFrames: 5,
    })) {
      pieces.push(piece)
    }
    expect(pieces.length).toBe(Math.ceil(vectors.stage('latents').length / voice.config.flow.channels / 5))
    expectClose('pieces', Float32Array.from(pieces.flatMap((piece) => [...piece])), vectors.stage('waveform'))
  })
})

describe('a VITS voice', () => {
  const noise: SpeakRequest['noise'] = (count) => new Float32Array(count)

  it('speaks faster and slower', async () => {
    const voice = await load('piper', await DRIVERS.wasm())
    const symbols = Int32Array.from(golden('piper').ids)
    const [slow, own, fast] = [
      (await collect(voice.speak({ symbols, noise, rate: 0.5 }))).length,
      (await collect(voice.speak({ symbols, noise }))).length,
      (await collect(voice.speak({ symbols, noise, rate: 2 }))).length,
    ]
    expect(slow).toBeGreaterThan(own * 1.4)
    expect(fast).toBeLessThan(own)
  })

  it('gives back what it used', async () => {
    const backend = await DRIVERS.wasm()
    const before = backend.allocatedBytes
    const voice = await load('piper', backend)
    const loaded = backend.allocatedBytes
    await collect(voice.speak({ symbols: Int32Array.from(golden('piper').ids), noise }))
    expect(backend.allocatedBytes).toBe(loaded)
    voice.dispose()
    expect(backend.allocatedBytes).toBe(before)
  })

  it('stops when it is told to', async () => {
    const voice = await load('piper', await DRIVERS.wasm())
    const controller = new AbortController()
    const symbols = Int32Array.from(golden('piper').ids)
    const pieces = voice.speak({ symbols, noise, pieceFrames: 3, signal: controller.signal })
    await pieces.next()
    controller.abort()
    await expect(pieces.next()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('says nothing and too much: neither', async () => {
    const voice = await load('piper', await DRIVERS.wasm())
    for (const length of [0, 2001]) {
      await expect(collect(voice.speak({ symbols: new Int32Array(length), noise }))).rejects.toMatchObject({
        code: 'speech/text-length',
      })
    }
  })

  it('names what is missing, of another size, or no speaker', async () => {
    const backend = createReferenceBackend()
    backends.push(backend)
    const [config, tensors] = await openHuggingFace()
    const options = { name: 'voice', type: 'F32', speaker: 0 } as const
    const without = new Map(tensors)
    without.delete('dec.conv_post.weight')
    await expect(Vits.load(backend, config, without, options)).rejects.toMatchObject({
      code: 'model/missing-tensor',
      message: expect.stringContaining('dec.conv_post.weight'),
    })
    await expect(Vits.load(backend, { ...config, symbols: 21 }, tensors, options)).rejects.toMatchObject({
      code: 'model/wrong-shape',
    })
    await expect(Vits.load(backend, config, tensors, { ...options, speaker: 2 })).rejects.toMatchObject({
      code: 'option/speaker',
    })
    expect(backend.allocatedBytes).toBe(0)
  })
})
