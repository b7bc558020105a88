/**
 * The reference models of test/golden/ (random weights, every stage from Transformers in float32), through the whole
 * engine: files, pictures, prompts, tower, projector, decoder, greedy continuation.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { largestShare } from '../../test/support/compare.ts'
import { goldenPath, readGoldenRuns } from '../../test/support/golden-model.ts'
import { expectStages, type Stages, traceRun } from '../../test/support/golden-stages.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createReferenceBackend } from '../backend/reference/reference-backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import type { AssembleOptions } from './assemble-model.ts'
import type { LoadedModel } from './loaded-model.ts'

const MODELS = ['smolvlm', 'smolvlm-one-tile', 'llava', 'llama3', 'qwen2', 'qwen3']
/** Sizes that are no multiple of a block: heads of 72 and 16, feed-forward layers of 176, 208 and 272. */
const ODD_MODELS = ['odd/smolvlm', 'odd/qwen2']

const WASM: { name: string; create: () => Promise<Backend> }[] = [
  { name: 'relaxed SIMD, 2 threads', create: () => wasm({ build: 'relaxed', threads: 2 }) },
  { name: 'relaxed SIMD, 1 thread', create: () => wasm({ build: 'relaxed', threads: 1 }) },
  { name: 'baseline SIMD, 2 threads', create: () => wasm({ build: 'baseline', threads: 2 }) },
  {
    name: 'baseline SIMD, memory not shared',
    create: () => wasm({ build: 'baseline', threads: 1, shareMemory: false }),
  },
]

function wasm(options: Parameters<typeof createWasmBackend>[1]): Promise<Backend> {
  return createWasmBackend(createNodeWorkerHost(), options)
}

let backend: Backend | undefined
afterEach(async () => {
  await backend?.dispose()
  backend = undefined
})

async function load(
  create: () => Backend | Promise<Backend>,
  model: string,
  options: AssembleOptions = {},
): Promise<LoadedModel> {
  backend = await create()
  return loadOnBackend(backend, goldenPath(model), { precision: 'f32', ...options })
}

/** Every stage of two runs, bit by bit. */
function expectSameBytes(actual: Stages, expected: Stages): void {
  for (const [name, { data }] of expected) {
    const found = actual.get(name)!.data
    expect(Buffer.compare(bytesOf(found), bytesOf(data)), name).toBe(0)
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

describe('every stage equals the reference', () => {
  for (const { name, create } of WASM) {
    describe(name, () => {
      it.each([...MODELS, ...ODD_MODELS])('%s', async (model) => {
        const loaded = await load(create, model)
        for (const run of readGoldenRuns(model)) expectStages(await traceRun(loaded, run), run)
      })
    })
  }

  it('the scalar reference backend, through the same model code', async () => {
    for (const model of ['smolvlm-one-tile', 'qwen3']) {
      const [run] = readGoldenRuns(model)
      expectStages(await traceRun(await load(createReferenceBackend, model), run!), run!)
      await backend!.dispose()
    }
  })
})

describe('passes of few tokens give what one pass gives, bit by bit', () => {
  it.each([
    ['smolvlm', { precision: 'f32' }],
    ['smolvlm', { precision: 'q8' }],
    ['llama3', { precision: 'q4', kv: 'q8' }],
    ['odd/qwen2', { precision: 'f32', kv: 'f16' }],
    ['odd/smolvlm', { precision: 'q8', kv: 'q8' }],
  ] as const)('%s with %o', async (model, options) => {
    for (const build of ['relaxed', 'baseline'] as const) {
      const [run] = readGoldenRuns(model)
      const results: Stages[] = []
      for (const maxPassTokens of [256, 7, 1]) {
        const loaded = await load(() => wasm({ build, threads: 2 }), model, { ...options, maxPassTokens })
        results.push(await traceRun(loaded, run!, 16))
        await backend!.dispose()
      }
      expectSameBytes(results[1]!, results[0]!)
      expectSameBytes(results[2]!, results[0]!)
    }
  })
})

/**
 * Where builds round a float32 differently in its last place, int8 activations may fall to the next step, which random
 * weights spread over all logits.
 */
const BUILD_SHARE = { q8: 0.03, q4: 0.03 }
/** Int8 keeps about two digits, int4 hardly one; anything wrong would be as large as the logits themselves. */
const QUANTIZED_SHARE = { q8: 0.08, q4: 0.6 }

describe.each(['q8', 'q4'] as const)('at %s', (precision) => {
  it.each(['smolvlm', 'odd/smolvlm', 'qwen2'])(
    '%s gives the same numbers on any thread count',
    async (model) => {
      const [run] = readGoldenRuns(model)
      const results: Stages[] = []
      for (const { create } of WASM) {
        results.push(await traceRun(await load(create, model, { precision }), run!, 16))
        await backend!.dispose()
      }
      const [relaxed, relaxedOneThread, baseline, unshared] = results
      expectSameBytes(relaxedOneThread!, relaxed!)
      expectSameBytes(unshared!, baseline!)
      const logits = (result: typeof relaxed): ArrayLike<number> => result!.get('logits')!.data
      expect(largestShare(logits(baseline), logits(relaxed))).toBeLessThan(BUILD_SHARE[precision])
      expect(largestShare(logits(relaxed), run!.stages.get('logits')!.data)).toBeLessThan(
        QUANTIZED_SHARE[precision],
      )
    },
  )
})

/** Rounding keys and values to 11 or 8 bits; anything wrong would be as large as the logits themselves. */
const CACHE_SHARE = { f16: 3e-3, q8: 3e-2 }

describe.each(['f16', 'q8'] as const)('with keys and values at %s', (kv) => {
  it.each(['smolvlm', 'llama3', 'qwen3', 'odd/smolvlm', 'odd/qwen2'])(
    '%s stays near the reference, with the same bits on any thread count',
    async (model) => {
      const [run] = readGoldenRuns(model)
      const results: Stages[] = []
      for (const { create } of WASM) {
        results.push(await traceRun(await load(create, model, { kv }), run!, 16))
        await backend!.dispose()
      }
      const [relaxed, relaxedOneThread, baseline, unshared] = results
      expectSameBytes(relaxedOneThread!, relaxed!)
      expectSameBytes(unshared!, baseline!)
      const expected = run!.stages.get('logits')!.data
      const shares = results.map((result) => largestShare(result.get('logits')!.data, expected))
      expect(Math.max(...shares)).toBeLessThan(CACHE_SHARE[kv])
      // As far away as only a rounded cache is.
      expect(Math.min(...shares)).toBeGreaterThan(1e-5)
    },
  )
})
