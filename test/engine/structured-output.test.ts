/** Answers of a given form, from the whole engine. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GenerationOptions, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

/** The bundled model, whose prompts end in a word; models of random weights, one with a SentencePiece vocabulary. */
const MODELS = ['../../models/tiny', 'qwen2', 'llava']
const models = new Map<string, Model>()
beforeAll(async () => {
  for (const name of MODELS) models.set(name, await loadModel(goldenPath(name)))
})
afterAll(() => Promise.all([...models.values()].map((model) => model.dispose())))

const SCHEMA = {
  type: 'object',
  properties: {
    seen: { type: 'string', maxLength: 30 },
    count: { type: 'integer', minimum: 0, maximum: 20 },
    kinds: { type: 'array', items: { enum: ['photo', 'drawing', '图'] }, minItems: 1, maxItems: 3 },
    sure: { type: ['boolean', 'null'] },
  },
  required: ['seen', 'count', 'kinds', 'sure'],
  additionalProperties: false,
}
const validate = new Ajv2020().compile(SCHEMA)

describe.each(MODELS)('%s', (name) => {
  it('answers with JSON that satisfies the schema, whatever is drawn', async () => {
    const model = models.get(name)!
    const chat = model.chat()
    for (const [seed, temperature] of [0, 1, 3, 0.7, 1].entries()) {
      const options: GenerationOptions = { responseSchema: SCHEMA, temperature, seed, maxTokens: 300 }
      let text = ''
      const finished = await ask(chat, 'What do you see?', options, (event) => {
        if (event.type === 'text-delta') text += event.text
      })
      expect(finished.finishReason).toBe('stop')
      expect(finished.text).toBe(text)
      expect(text[0]).toBe('{')
      expect(validate(JSON.parse(text)), text).toBe(true)
    }
    chat.dispose()
  })
})
