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

describe('an answer by a schema', () => {
  const tiny = (): Model => models.get(MODELS[0]!)!

  it('that is cut says so', async () => {
    const finished = await ask(tiny().chat(), 'Hi', { responseSchema: SCHEMA, maxTokens: 5 })
    expect(finished).toMatchObject({ finishReason: 'length', usage: { completionTokens: 5 } })
    expect('{"seen": "'.startsWith(finished.text.slice(0, 10))).toBe(true)
  })

  it('needs no stop token where nothing may follow, and one where a digit may', async () => {
    const seen = await ask(tiny().chat(), 'Hi', { responseSchema: { const: 'x' } })
    expect([seen.text, seen.finishReason]).toEqual(['"x"', 'stop'])
    const count = await ask(tiny().chat(), 'Hi', {
      responseSchema: { type: 'integer', minimum: 1, maximum: 99 },
    })
    expect(Number(count.text)).toBeGreaterThanOrEqual(1)
    expect(Number(count.text)).toBeLessThanOrEqual(99)
    expect(count.finishReason).toBe('stop')
  })

  it('can be scored: by the model itself, not by what the schema leaves', async () => {
    const options = { responseSchema: { enum: ['yes', 'no'] }, logprobs: 3 }
    const { logprobs, tokenIds } = await ask(tiny().chat(), 'Is it?', options)
    expect(logprobs!.map(({ id }) => id)).toEqual(tokenIds)
    const free = await ask(tiny().chat(), 'Is it?', { logprobs: 3, maxTokens: 1 })
    // The same prompt may be computed in other passes, whose sums differ in the last places.
    expect(logprobs![0]!.top).toEqual(
      free.logprobs![0]!.top.map((token) => ({ ...token, logprob: expect.closeTo(token.logprob, 3) })),
    )
  })

  it('is part of the conversation like any other', async () => {
    const chat = tiny().chat()
    const first = await ask(chat, 'What is it?', { responseSchema: SCHEMA, maxTokens: 200 })
    const next = await ask(chat, 'And now?', { maxTokens: 8 })
    const turns = [
      { role: 'user' as const, text: 'What is it?' },
      { role: 'assistant' as const, text: first.text },
    ]
    expect((await ask(tiny().chat({ messages: turns }), 'And now?', { maxTokens: 8 })).text).toBe(next.text)
  })

  it.each([
    [{ responseSchema: { not: {} } }, 'option/schema', "The schema's #/not is not supported."],
    [
      { responseSchema: SCHEMA, stop: ['x'] },
      'option/invalid',
      'The options "responseSchema" and "stop" do not go together.',
    ],
    [
      { responseSchema: true, ignoreEos: true },
      'option/invalid',
      'The options "responseSchema" and "ignoreEos" do not go together.',
    ],
    [
      { responseSchema: true, choices: ['a'] },
      'option/invalid',
      'The options "responseSchema" and "choices" do not go together.',
    ],
    [
      { choices: ['a'], logprobs: 2 },
      'option/invalid',
      'The options "choices" and "logprobs" do not go together.',
    ],
    [
      { choices: [] },
      'option/invalid',
      'The option "choices" must be a list of 1 to 1000 different texts of 1 to 1000 characters; found [].',
    ],
    [{ choices: ['a', 'a'] }, 'option/invalid', 'found ["a","a"]'],
  ])('%j is refused, and the conversation as it was', async (options, code, message) => {
    const chat = tiny().chat()
    await expect(ask(chat, 'Hi', options as GenerationOptions)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
    expect(chat.turns).toEqual([])
  })
})

describe('an answer of a few texts', () => {
  it('comes with the probability of each', async () => {
    const model = models.get(MODELS[0]!)!
    const chat = model.chat()
    const message = { text: 'What is it?', images: [goldenPath('tiny-cases/pictures/000.png')] }
    const free = await ask(model.chat(), message)
    const choices = ['a banana', free.text, '猫', 'yes']
    const finished = await ask(chat, message, { choices })
    expect(finished).toMatchObject({ text: free.text, finishReason: 'stop' })
    expect(finished.choices!.map(({ text }) => text)).toEqual(choices)
    expect(finished.choices!.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 10)
    expect(finished.choices![1]!.probability).toBeGreaterThan(0.5)
    expect(finished.tokenIds).toEqual(free.tokenIds.slice(0, -1))
    expect(chat.turns.at(-1)).toMatchObject({ role: 'assistant', text: free.text })
    expect((await ask(chat, 'And now?', { choices: ['yes', 'no'] })).choices).toHaveLength(2)
  })

  it('must fit into the context', async () => {
    const small = await loadModel(goldenPath(MODELS[0]!), { contextLength: 40 })
    await expect(ask(small.chat(), 'Hi', { choices: ['yes', 'word '.repeat(30)] })).rejects.toMatchObject({
      code: 'generation/context-full',
      message: expect.stringMatching(
        /^The prompt has \d+ tokens and the longest choice \d+, but the model holds 40\.$/,
      ),
    })
    await small.dispose()
  })

  it.each(MODELS)('%s writes each as it is', async (name) => {
    for (const choice of [' x', 'x', 'Zwei Wörter', '猫', '\n', '</s>', '<|im_end|>', '<image>']) {
      const { text, choices } = await ask(models.get(name)!.chat(), 'Hi', { choices: [choice] })
      expect([text, choices]).toEqual([choice, [{ text: choice, probability: 1 }]])
    }
  })
})
