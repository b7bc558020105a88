/** Conversations that begin with turns held before, pictures between words, and texts without a template. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatTurn, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { withField } from '../support/changed-folder.ts'
import { goldenPath } from '../support/golden-model.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const OTHER_PICTURE = goldenPath('tiny-cases/pictures/001.png')

let tiny: Model
let tiling: Model
let textOnly: Model
const folders = useTemporaryFolders()
beforeAll(async () => {
  tiny = await loadModel(goldenPath('../../models/tiny'))
  tiling = await loadModel(goldenPath('smolvlm'), { precision: 'f32' })
  textOnly = await loadModel(goldenPath('llama3'), { precision: 'f32' })
})
afterAll(() => Promise.all([tiny, tiling, textOnly].map((model) => model.dispose())))

describe('a conversation that was held before', () => {
  it('goes on with the tokens it would have had', async () => {
    const question = { text: '图里有什么？', images: [PICTURE] }
    const live = tiny.chat({ system: 'Be brief.' })
    const { text } = await ask(live, question)
    const expected = await ask(live, '停车标志在哪里？')
    const resumed = tiny.chat({
      system: 'Be brief.',
      messages: [
        { role: 'user', ...question },
        { role: 'assistant', text },
      ],
    })
    const found = await ask(resumed, '停车标志在哪里？')
    expect(found.tokenIds).toEqual(expected.tokenIds)
    // All that the first conversation has computed is copied.
    const { promptTokens, imageTokens } = expected.usage
    expect(found.usage).toMatchObject({ promptTokens, imageTokens, cachedTokens: promptTokens - 1 })
    expect(found.images).toHaveLength(1)
    expect((await ask(resumed, '？', { maxTokens: 1 })).images).toEqual([])
    live.dispose()
    resumed.dispose()
  })

  it('looks at its pictures as its turns say', async () => {
    const chat = tiling.chat({
      messages: [
        { role: 'system', text: 'Hi.' },
        { role: 'user', text: 'A?', images: [PICTURE], detail: 'low' },
        { role: 'assistant', text: 'B.' },
      ],
    })
    const { images } = await ask(
      chat,
      { text: 'And?', images: [OTHER_PICTURE] },
      { detail: 'high', maxTokens: 1 },
    )
    expect(images.map(({ detail }) => detail)).toEqual(['low', 'high'])
    chat.dispose()
  })

  it('keeps its pictures for the next message when one is refused', async () => {
    const before = tiny.info.allocatedBytes
    const chat = tiny.chat({
      messages: [
        { role: 'user', text: '图里有什么？', images: [PICTURE] },
        { role: 'assistant', text: '我看到上方有一个停车标志。' },
      ],
    })
    await expect(ask(chat, { text: 'What?', images: [new Uint8Array(3)] })).rejects.toMatchObject({
      code: 'image/unsupported-format',
    })
    const { usage } = await ask(chat, '停车标志在哪里？')
    expect(usage.imageTokens).toBeGreaterThan(0)
    chat.dispose()
    expect(tiny.info.allocatedBytes).toBe(before)
  })

  it.each([
    [{ role: 'tool', text: 'x' }, 'The option "role" must be one of system, user, assistant; found "tool".'],
    [{ text: 'x' }, 'A turn must have a role: system, user or assistant; found none.'],
    [{ role: 'user' }, 'A turn must have a text; found none.'],
    [{ role: 'assistant', text: 'x', images: [] }, 'There is no option "images" of a turn.'],
  ])('refuses the turn %j', (turn, message) => {
    expect(() => tiny.chat({ messages: [turn as ChatTurn] })).toThrow(message)
  })
})

describe('places of pictures in the text', () => {
  it('are where they are said to be', async () => {
    const images = [PICTURE, OTHER_PICTURE]
    const texts = ['一', '二', '图里有什么？']
    const message = { text: texts.join(''), images, imageOffsets: [1, 2] }
    const within = await ask(tiny.chat(), message, { maxTokens: 1 })
    const before = await ask(tiny.chat(), { text: message.text, images }, { maxTokens: 1 })
    const explicit = await ask(tiny.chat(), { ...message, imageOffsets: [0, 0] }, { maxTokens: 1 })
    expect(explicit.usage).toEqual({ ...before.usage, cachedTokens: before.usage.promptTokens - 1 })
    expect(within.usage.imageTokens).toBe(before.usage.imageTokens)
  })

  it.each([[[0]], [[1, 0]], [[0, 99]], [[0, 0.5]]])(
    '%j for two pictures in "ab" is refused',
    async (imageOffsets) => {
      const message = { text: 'ab', images: [PICTURE, PICTURE], imageOffsets }
      await expect(ask(tiny.chat(), message)).rejects.toMatchObject({
        code: 'option/invalid',
        message: expect.stringContaining(
          'must name 2 places from 0 to 2, ascending, one for each picture; found [',
        ),
      })
    },
  )
})

describe('without a template', () => {
  it.each(['Once upon', 'Once upon '])('%j goes on with the tokens of the raw prompt', async (prompt) => {
    for (const model of [tiny, textOnly]) await expectContinuation(model, prompt, '')
  })

  it('a text begins as its tokenizer begins texts, once', async () => {
    const processor = {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<|im_start|>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      special_tokens: { '<|im_start|>': { id: '<|im_start|>', ids: [1], tokens: ['<|im_start|>'] } },
    }
    const folder = withField(folders, goldenPath('llama3'), 'tokenizer.json', 'post_processor', processor)
    const model = await loadModel(folder, { precision: 'f32' })
    await expectContinuation(model, 'Once upon', '<|im_start|>')
    await model.dispose()
  })

  it('a space before the first word is part of the text', async () => {
    const texts: string[] = []
    for (const template of [true, false]) {
      const chat = tiny.chat({ template })
      const message = '<|im_start|>User: Hello<end_of_utterance>\nAssistant:'
      texts.push((await ask(chat, template ? 'Hello' : message, { maxTokens: 8 })).text)
      chat.dispose()
    }
    expect(texts).toEqual(['Hi! Show me', ' Hi! Show me'])
  })

  it('pictures stand where they are put, and what looks like one is text', async () => {
    const chat = tiling.chat({ template: false })
    const { usage } = await ask(
      chat,
      { text: 'A: <image> B:', images: [PICTURE], imageOffsets: [2] },
      { detail: 'low', maxTokens: 1 },
    )
    expect(usage.imageTokens).toBe(4)
    chat.dispose()
  })
})

/** The chat answers as a trace of the raw prompt does, which the golden tests hold against Transformers. */
async function expectContinuation(model: Model, prompt: string, begin: string): Promise<void> {
  const trace = await model.trace({ prompt: begin + prompt, greedyTokens: 6 })
  const tokensOf = (name: string) => Array.from(trace.find((tensor) => tensor.name === name)!.data)
  for (const text of [prompt, begin + prompt]) {
    const chat = model.chat({ template: false })
    const { tokenIds, usage } = await ask(chat, text, { maxTokens: 6, ignoreEos: true })
    expect(tokenIds).toEqual(tokensOf('greedy'))
    expect(usage.promptTokens).toBe(tokensOf('input_ids').length)
    chat.dispose()
  }
}
