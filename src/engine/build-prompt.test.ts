import { afterAll, beforeAll, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { runTrace } from './trace.ts'

let backend: Backend
beforeAll(async () => {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 1 })
})
afterAll(() => backend.dispose())

it.each([
  ['What is it?', 1, 0],
  ['<image>What is it?', 0, 1],
  ['<image><image>', 1, 2],
])('a raw prompt names each picture once: %j with %i', async (prompt, count, places) => {
  const model = await loadOnBackend(backend, goldenPath('smolvlm-one-tile'), { precision: 'f32' })
  const image = { data: new Uint8Array(12), width: 2, height: 2 }
  await expect(
    runTrace(model, { prompt, ...(count > 0 && { image }), greedyTokens: 0 }),
  ).rejects.toMatchObject({
    code: 'option/prompt',
    message: `The prompt has <image> ${places} times, expected one for each picture, of which there are ${count}.`,
  })
})

it('to a text model the placeholder is text', async () => {
  const model = await loadOnBackend(backend, goldenPath('qwen3'), { precision: 'f32' })
  const [ids] = await runTrace(model, { prompt: '<image>Hi', greedyTokens: 0 })
  expect(ids?.shape[0]).toBeGreaterThan(1)
})
