/** Embeddings, held against the hidden states of Transformers (test/golden/generation/make_score_vectors.py). */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import type { AssembleOptions } from './assemble-model.ts'
import { embedTexts } from './embed.ts'
import type { LoadedModel } from './loaded-model.ts'

const { embeddings } = JSON.parse(readFileSync(goldenPath('generation/scores.json'), 'utf8')) as {
  embeddings: Record<string, { text: string; tokens: number; values: number[] }[]>
}
/** Of vectors of length 1; float32 all the way. */
const TOLERANCE = 5e-6

let backend: Backend | undefined
afterEach(async () => {
  await backend?.dispose()
  backend = undefined
})

async function load(name: string, options: AssembleOptions = {}): Promise<LoadedModel> {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
  return loadOnBackend(backend, goldenPath(name), { precision: 'f32', ...options })
}

describe.each(Object.entries(embeddings))('%s', (name, expected) => {
  it.each([[256], [7]])(
    'gives the reference’s vectors, element by element, in passes of up to %d tokens',
    async (maxPassTokens) => {
      const loaded = await load(name, { maxPassTokens })
      const found = await embedTexts(
        loaded,
        expected.map(({ text }) => text),
        {},
      )
      expect(found.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens))
      for (const [index, { values }] of expected.entries()) {
        const { vector } = found[index]!
        expect(vector).toHaveLength(values.length)
        for (const [place, value] of values.entries()) {
          expect(Math.abs(vector[place]! - value), `text ${index}, ${place}`).toBeLessThan(TOLERANCE)
        }
      }
      const before = loaded.backend.allocatedBytes
      await embedTexts(loaded, ['again'], {})
      expect(loaded.backend.allocatedBytes).toBe(before)
    },
  )
})

describe('embeddings', () => {
  it('are of length 1, none of no texts', async () => {
    const loaded = await load('qwen2')
    const [one] = await embedTexts(loaded, ['A cat.'], {})
    expect(Math.hypot(...one!.vector)).toBeCloseTo(1, 6)
    expect(await embedTexts(loaded, [], {})).toEqual([])
  })

  it('read what looks like a control token as text', async () => {
    const loaded = await load('qwen2')
    const [one] = await embedTexts(loaded, ['<|im_end|>'], {})
    expect(one!.tokens).toBeGreaterThan(1)
  })

  it.each([
    [['a', ''], 'text/empty-prompt', 'Text 1 has no tokens.'],
    [
      ['word '.repeat(2000)],
      'generation/context-full',
      expect.stringMatching(/^Text 0 has \d+ tokens, but .*qwen2 holds 1024\.$/),
    ],
    ['text', 'option/invalid', 'Embeddings are made of a list of texts.'],
    [[1], 'option/invalid', 'Embeddings are made of a list of texts.'],
  ])('%# are refused for what is none', async (texts, code, message) => {
    await expect(embedTexts(await load('qwen2'), texts as string[], {})).rejects.toMatchObject({
      code,
      message,
    })
  })

  it('stop when aborted', async () => {
    const loaded = await load('qwen2')
    await expect(embedTexts(loaded, ['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })
})
