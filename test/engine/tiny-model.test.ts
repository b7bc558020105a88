/** The bundled model answers what the reference answers, token by token. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundledModelPath, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { readTinyCases } from '../support/tiny-cases.ts'

let model: Model
beforeAll(async () => {
  model = await loadModel(bundledModelPath(), { precision: 'f32' })
})
afterAll(() => model.dispose())

it('is loaded by its name', async () => {
  const byName = await loadModel('tiny')
  expect(byName.info.name).toBe(model.info.name)
  await byName.dispose()
})

it('gives the reference’s answers in every conversation', async () => {
  for (const { id, picture, turns } of readTinyCases()) {
    const chat = model.chat()
    for (const [index, turn] of turns.entries()) {
      const images = index === 0 ? [picture] : []
      let streamed = ''
      const { text, tokenIds, finishReason } = await ask(chat, { text: turn.ask, images }, {}, (event) => {
        if (event.type === 'text-delta') streamed += event.text
      })
      expect({ id, text, streamed, tokenIds, finishReason }).toEqual({
        id,
        text: turn.says,
        streamed: turn.says,
        tokenIds: turn.tokenIds,
        finishReason: 'stop',
      })
    }
    chat.dispose()
  }
})
