/** Prompts of conversations that grow: what was encoded before is used again, and the ids are those of the whole. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { createRandom } from '../generation/random.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import type { ChatMessage } from '../text/chat-template/chat-message.ts'
import { type ChatTemplate, createChatTemplate } from '../text/chat-template/chat-template.ts'
import { fallbackChatTemplate } from '../text/chat-template/find-chat-template.ts'
import { GrowthMemo } from '../text/growth-memo.ts'
import { composeChatPrompt, PromptMemo } from './build-prompt.ts'
import { textTurn, userTurn } from './chat-turn.ts'
import type { LoadedModel } from './loaded-model.ts'
import { finishPicture, type Picture, preparePicture } from './picture.ts'

const MODELS = [
  '../../models/tiny',
  'smolvlm',
  'smolvlm-one-tile',
  'llava',
  'llama3',
  'qwen2',
  'qwen3',
  'odd/smolvlm',
  'odd/qwen2',
]
const VISION = ['../../models/tiny', 'smolvlm', 'smolvlm-one-tile', 'llava', 'odd/smolvlm']

const TEXTS = [
  'What is it?',
  '图里有什么？',
  ' spaces  at both ends ',
  'two\n\nlines\n',
  'Answer: <image> and <|im_end|><end_of_utterance></s>',
  '<think>\nhm\n</think>\n\nYes.',
  '1234567890',
  '👩‍👩‍👧 é ﷺ',
  '\uFDD0 noncharacter',
  '',
  '.',
]

let backend: Backend | undefined
afterEach(async () => {
  await backend?.dispose()
  backend = undefined
})

interface Conversation {
  readonly messages: readonly ChatMessage[]
  /** Of each message, how many pictures it has. */
  readonly pictures: readonly number[]
}

function inventConversation(random: () => number, seesPictures: boolean): Conversation {
  const choose = <One>(from: readonly One[]): One => from[Math.floor(random() * from.length)] as One
  const messages: ChatMessage[] = []
  const pictures: number[] = []
  if (random() < 0.5) {
    messages.push(textTurn('system', choose(TEXTS)))
    pictures.push(0)
  }
  const turns = 1 + Math.floor(random() * 5)
  for (let turn = 0; turn < turns; turn++) {
    const count = seesPictures && random() < 0.4 ? 1 + Math.floor(random() * 2) : 0
    const text = choose(TEXTS)
    messages.push(userTurn({ text, imageCount: count, imageOffsets: Array.from({ length: count }, () => 0) }))
    messages.push(textTurn('assistant', choose(TEXTS)))
    pictures.push(count, 0)
  }
  return { messages, pictures }
}

describe('ids of a growing conversation are those of the whole', () => {
  it.each(MODELS)('%s', async (model) => {
    backend = await createWasmBackend(createNodeWorkerHost(), { threads: 1 })
    const loaded = await loadOnBackend(backend, goldenPath(model), { precision: 'f32', contextLength: 1024 })
    const random = createRandom(7)
    const picture = VISION.includes(model) ? await anyPicture(loaded) : undefined
    let reused = 0
    for (let round = 0; round < 120; round++) {
      const { messages, pictures } = inventConversation(random, picture !== undefined)
      const memo = new PromptMemo()
      for (const [index, { role }] of messages.entries()) {
        if (role !== 'user') continue
        const said = messages.slice(0, index + 1)
        const shown = pictures
          .slice(0, index + 1)
          .flatMap((count) => Array<Picture>(count).fill(picture as Picture))
        const whole = composeChatPrompt(loaded, said, shown)
        expect(composeChatPrompt(loaded, said, shown, memo)).toEqual(whole)
        reused++
      }
    }
    expect(reused).toBeGreaterThan(250)
  })
})

async function anyPicture(loaded: LoadedModel): Promise<Picture> {
  const image = { data: new Uint8Array(3 * 70 * 40).fill(90), width: 70, height: 40 }
  return finishPicture(loaded, await preparePicture(loaded, image, { detail: 'high' }))
}

interface Vector {
  readonly name: string
  readonly source: string
  readonly variables: Record<string, unknown>
}

/** Templates of the tests, those built in, and those of the bundled and the golden models. */
function listTemplates(): { name: string; template: ChatTemplate; variables: Vector['variables'] }[] {
  const tokens = { bos: '<s>', eos: '</s>' }
  const vectors = JSON.parse(readFileSync(goldenPath('text/chat-vectors.json'), 'utf8')) as Vector[]
  const builtIn = (['idefics3', 'llava', 'chatml'] as const).map((kind) => fallbackChatTemplate(kind))
  const ofModels = MODELS.map((model) => {
    const file = readFileSync(goldenPath(`${model}/chat_template.json`), 'utf8')
    return { name: `model ${model}`, source: (JSON.parse(file) as { chat_template: string }).chat_template }
  })
  const plain = [...builtIn, ...ofModels].map((one) => ({ ...one, variables: {} }))
  return [...vectors, ...plain].map(({ name, source, variables }) => ({
    name,
    template: createChatTemplate(source, name, tokens),
    variables,
  }))
}

/**
 * The first two leave out the thoughts of earlier answers, or an empty thought that begins each; the last ends a
 * conversation that is not to be answered with a token of its own.
 */
const REWRITES_ANSWERS = ['qwen3', 'qwen3 without thinking', 'macro']
const EMPTY_THOUGHT = '<think>\n\n</think>\n\n'

describe('a growing conversation begins as it did before', () => {
  it.each(listTemplates())('$name', ({ name, template, variables }) => {
    const random = createRandom(11)
    let rewrites = false
    for (let round = 0; round < 60; round++) {
      const { messages } = inventConversation(random, false)
      for (let end = 1; end < messages.length; end++) {
        if (messages[end]?.role !== 'user' || messages[end - 1]?.role !== 'assistant') continue
        const render = (count: number, addGenerationPrompt: boolean): string =>
          template.render(messages.slice(0, count), { addGenerationPrompt, variables })
        const asked = render(end - 1, true)
        const before = render(end, false)
        const after = render(end + 1, true)
        // Up to the answer always, but for white space: what was computed for a question counts for the next one too.
        const lost = asked.length - sharedLength(asked, after)
        expect(lost).toBeLessThanOrEqual(name === 'qwen3 without thinking' ? EMPTY_THOUGHT.length : 2)
        if (!after.startsWith(before)) rewrites = true
      }
    }
    expect(rewrites).toBe(REWRITES_ANSWERS.includes(name))
  })
})

describe('message by message a template writes what it writes at once', () => {
  it.each(listTemplates())('$name', ({ template }) => {
    const random = createRandom(13)
    for (let round = 0; round < 60; round++) {
      const { messages } = inventConversation(random, true)
      const pieces = new GrowthMemo<string>()
      for (let end = 1; end <= messages.length; end++) {
        for (const addGenerationPrompt of [true, false]) {
          const said = messages.slice(0, end)
          const whole = tryRender(() => template.render(said, { addGenerationPrompt }))
          expect(tryRender(() => template.render(said, { addGenerationPrompt, pieces }))).toBe(whole)
        }
      }
      // Going back, and on from there.
      const edited = [...messages.slice(0, 1), textTurn('user', 'Otherwise?')]
      const render = (memo?: GrowthMemo<string>): string =>
        tryRender(() => template.render(edited, { addGenerationPrompt: true, pieces: memo }))
      expect(render(pieces)).toBe(render())
    }
  })
})

/** Some templates refuse some orders of turns. */
function tryRender(render: () => string): string {
  try {
    return render()
  } catch (error) {
    return String(error)
  }
}

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
