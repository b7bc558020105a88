/** Conversations that share a model take turns. */
import { expect, it } from 'vitest'
import { ask } from '../../test/support/ask.ts'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { Conversation } from './conversation.ts'

it('a short answer does not wait for a long prompt', async () => {
  const backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
  const loaded = await loadOnBackend(backend, goldenPath('llama3'), { precision: 'f32', maxPassTokens: 8 })
  const converse = (): Conversation => new Conversation(loaded, {}, () => {})
  const order: ('pass' | 'word')[] = []
  const reading = ask(converse(), 'cat dog '.repeat(200), { maxTokens: 1 }, ({ type }) => {
    if (type === 'prompt-progressed') order.push('pass')
  })
  const { tokenIds } = await ask(converse(), 'Hello', { maxTokens: 12, ignoreEos: true }, ({ type }) => {
    if (type === 'text-delta') order.push('word')
  })
  await reading
  expect(order.filter((one) => one === 'pass').length).toBeGreaterThan(50)
  // A step takes no longer than a pass, so of the time that both use, each takes about half.
  const between = order.slice(order.indexOf('word'), order.lastIndexOf('word'))
  expect(between.length).toBeLessThan(40)
  expect(order.lastIndexOf('word')).toBeLessThan(order.lastIndexOf('pass'))
  expect((await ask(converse(), 'Hello', { maxTokens: 12, ignoreEos: true })).tokenIds).toEqual(tokenIds)
  await backend.dispose()
})
