/** Passes over a token and guesses behind it give, bit by bit, what single steps give. */
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createRandom } from '../generation/random.ts'
import { argmax } from '../generation/sampler.ts'
import { TokenSession } from '../generation/token-session.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { MAX_STEP_TOKENS } from '../models/llama/decoder.ts'
import type { AssembleOptions } from './assemble-model.ts'
import type { LoadedModel } from './loaded-model.ts'

const TINY = fileURLToPath(new URL('../../models/tiny', import.meta.url))
/** Enough to cross tiles of 64 keys and the first growth of the cache. */
const PROMPT_TOKENS = 230
const STEPS = 64

let backend: Backend | undefined
afterEach(async () => {
  await backend?.dispose()
  backend = undefined
})

async function load(
  build: 'relaxed' | 'baseline',
  path: string,
  options: AssembleOptions,
): Promise<LoadedModel> {
  backend = await createWasmBackend(createNodeWorkerHost(), { build, threads: 2 })
  return loadOnBackend(backend, path, options)
}

async function prefilled(loaded: LoadedModel, ids: readonly number[]): Promise<[TokenSession, Float32Array]> {
  const session = new TokenSession(loaded.model, loaded.queue.line())
  const passes = session.prefill({ ids, images: [] })
  let step = await passes.next()
  while (!step.done) step = await passes.next()
  return [session, step.value]
}

/** Greedy tokens one by one, with the logits behind each. */
async function single(loaded: LoadedModel, prompt: readonly number[]) {
  const [session, first] = await prefilled(loaded, prompt)
  const ids: number[] = []
  const logits: Float32Array[] = []
  let last = first
  for (let count = 0; count < STEPS; count++) {
    const id = argmax(last)
    ids.push(id)
    last = (await session.step(id)).logits
    logits.push(last)
  }
  session.dispose()
  return { ids, logits }
}

const CASES = [
  ['tiny', { precision: 'q8' }],
  ['tiny', { precision: 'q8', kv: 'q8' }],
  ['tiny', { precision: 'q4', kv: 'f16' }],
  ['tiny', { precision: 'f32' }],
  ['llama3', { precision: 'q8', kv: 'q8' }],
  ['qwen3', { precision: 'f32', kv: 'f16' }],
  ['qwen2', { precision: 'q4' }],
  ['smolvlm', { precision: 'q8' }],
  ['odd/smolvlm', { precision: 'q8', kv: 'q8' }],
  ['odd/qwen2', { precision: 'q4', kv: 'f16' }],
] as const

describe.each(['relaxed', 'baseline'] as const)('%s SIMD', (build) => {
  it.each(CASES)('%s with %o', async (model, options) => {
    const loaded = await load(build, model === 'tiny' ? TINY : goldenPath(model), options)
    const { vocabSize } = loaded.model.config.decoder
    const random = createRandom(7)
    const prompt = Array.from({ length: PROMPT_TOKENS }, () => Math.floor(random() * vocabSize))
    const expected = await single(loaded, prompt)

    const [session] = await prefilled(loaded, prompt)
    let passes = 0
    for (const [index, id] of expected.ids.entries()) {
      // Right for some tokens, then wrong; of every length that a pass takes.
      const length = index % MAX_STEP_TOKENS
      const right = Math.floor(random() * (length + 1))
      const draft = Array.from({ length }, (_, at) =>
        at < right ? (expected.ids[index + 1 + at] ?? 0) : (expected.ids[index] as number) ^ 1,
      )
      const { logits, pass } = await session.step(id, draft)
      if (pass) passes++
      expect(session.length).toBe(PROMPT_TOKENS + index + 1)
      expect(Buffer.compare(bytesOf(logits), bytesOf(expected.logits[index]!)), `step ${index}`).toBe(0)
    }
    expect(passes).toBeGreaterThan(STEPS / MAX_STEP_TOKENS)
    expect(passes).toBeLessThan(STEPS)
    session.dispose()
  })
})

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

it('a sequence says nothing of what was only guessed', async () => {
  const loaded = await load('relaxed', goldenPath('llama3'), { precision: 'q8' })
  const [session] = await prefilled(loaded, [1, 2, 3])
  await session.step(4, [5, 6])
  expect(session.contents.ids).toEqual([1, 2, 3, 4])
  expect(session.length).toBe(4)
  expect((await session.step(5)).pass).toBeUndefined()
  expect(session.contents.ids).toEqual([1, 2, 3, 4, 5])
  expect((await session.step(9)).pass?.tokens).toBe(1)
  expect(session.contents.ids).toEqual([1, 2, 3, 4, 5, 9])
  // Another prompt drops guesses, too.
  await session.step(10, [11])
  const passes = session.prefill({ ids: [1, 2, 3, 4, 5, 9, 10, 12], images: [] })
  expect((await passes.next()).value).toEqual({ tokens: 1, totalTokens: 1 })
  await passes.next()
  expect((await session.step(11)).pass?.tokens).toBe(1)
})
