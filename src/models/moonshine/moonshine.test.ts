import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import { createReferenceBackend } from '../../backend/reference/reference-backend.ts'
import { createWasmBackend } from '../../backend/wasm/wasm-backend.ts'
import { loadSafetensors } from '../../formats/safetensors/load-safetensors.ts'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { ConfigFields } from '../config-fields.ts'
import { WeightLoader } from '../weight-loader.ts'
import { parseMoonshineConfig } from './config.ts'
import { loadMoonshine, type MoonshineModel } from './moonshine.ts'
import { nameMoonshineTensors } from './weights.ts'

const GOLDEN = new URL('../../../test/golden/moonshine/', import.meta.url)
const read = (path: string) => new Uint8Array(readFileSync(new URL(path, GOLDEN)))
const json = (path: string) => JSON.parse(new TextDecoder().decode(read(path)))

function golden(folder: string) {
  const { ids, stages } = json(`${folder}/stages.json`)
  const all = new Float32Array(read(`${folder}/stages.f32`).buffer)
  return {
    ids: ids as number[],
    names: Object.keys(stages),
    stage: (name: string): Float32Array => {
      const { shape, offset } = stages[name]
      return all.subarray(offset, offset + shape.reduce((a: number, b: number) => a * b, 1))
    },
  }
}

const backends: Backend[] = []
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.dispose()
})

async function load(folder: string, backend: Backend, kind: 'f32' | 'q8' = 'f32'): Promise<MoonshineModel> {
  backends.push(backend)
  const config = parseMoonshineConfig(new ConfigFields(json(`${folder}/config.json`), 'config.json'))
  const source = createMemorySource('model.safetensors', read(`${folder}/model.safetensors`))
  const tensors = nameMoonshineTensors(await loadSafetensors(source))
  const loader = new WeightLoader({ backend, tensors, precision: { kind }, name: folder })
  return loadMoonshine(backend, config, loader, kind === 'f32' ? 'F32' : 'F16')
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

describe.each(Object.entries(DRIVERS))('Moonshine on %s', (_, createBackend) => {
  it.each(['v1', 'streaming'])('%s: every stage as in Transformers', async (folder) => {
    const vectors = golden(folder)
    const backend = await createBackend()
    const model = await load(folder, backend)
    const copies = new Map<string, () => Promise<Float32Array>>()
    const keep = (
      stage: string,
      source: Parameters<Backend['read']>[0],
      rows: number,
      columns: number,
    ): void => {
      const out = backend.alloc(rows * columns * 4)
      backend.enqueue('copyRows', { source, out, rows, columns })
      copies.set(stage, async () => new Float32Array((await backend.read(out, out.byteLength)).buffer))
    }
    await model.encode(vectors.stage('samples'), undefined, keep)
    const logits = await model.run(vectors.ids, 0, 'all', undefined, keep)
    for (const name of vectors.names.filter((one) => one !== 'samples' && one !== 'logits')) {
      expectClose(name, await copies.get(name)!(), vectors.stage(name))
    }
    expectClose('logits', Float32Array.from(logits.flatMap((row) => [...row])), vectors.stage('logits'))
  })

  it.each(['v1', 'streaming'])('%s: token by token as all at once, and the same tokens', async (folder) => {
    const vectors = golden(folder)
    const model = await load(folder, await createBackend())
    await model.encode(vectors.stage('samples'))
    const ids = [vectors.ids[0]!]
    const rows: number[] = []
    while (ids.length < vectors.ids.length) {
      const [row] = await model.run(ids.slice(-1), ids.length - 1, 'last')
      rows.push(...row!)
      row![2] = Number.NEGATIVE_INFINITY // as in the script: the end token of a random model means nothing
      ids.push(row!.indexOf(Math.max(...row!)))
    }
    expect(ids).toEqual(vectors.ids)
    const expected = vectors.stage('logits').slice(0, rows.length)
    expectClose('logits', Float32Array.from(rows), expected)
  })
})

describe('a Moonshine model', () => {
  it('stays near in int8', async () => {
    const vectors = golden('v1')
    const model = await load('v1', await DRIVERS.wasm(), 'q8')
    await model.encode(vectors.stage('samples'))
    const [row] = await model.run(vectors.ids, 0, 'last')
    const expected = vectors.stage('logits').slice(-row!.length)
    const error = Math.hypot(...row!.map((value, i) => value - expected[i]!)) / Math.hypot(...expected)
    expect(error).toBeLessThan(0.05)
    expect(error).toBeGreaterThan(0)
  })

  it('hears longer sounds than there was room for', async () => {
    const model = await load('v1', await DRIVERS.wasm())
    const long = new Float32Array(200_000).map((_, i) => Math.sin(i / 9) * 0.1)
    await model.encode(long)
    const [row] = await model.run([1], 0, 'last')
    expect(row!.every(Number.isFinite)).toBe(true)
  })

  it('refuses what is too short and too long', async () => {
    const model = await load('v1', await DRIVERS.wasm())
    for (const length of [894, 480_001]) {
      await expect(model.encode(new Float32Array(length))).rejects.toMatchObject({
        code: 'speech/utterance-length',
      })
    }
  })

  it('gives back what it took', async () => {
    const backend = createReferenceBackend()
    const model = await load('streaming', backend)
    model.dispose()
    expect(backend.allocatedBytes).toBe(0)
  })
})
