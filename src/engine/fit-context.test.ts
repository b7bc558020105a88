/** Conversations longer than the context: what is dropped, and that answers are those of what was kept. */
import { afterEach, describe, expect, it } from 'vitest'
import { ask } from '../../test/support/ask.ts'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { argmax } from '../generation/sampler.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { buildChatPrompt } from './build-prompt.ts'
import { Conversation } from './conversation.ts'
import { forceAnswer } from './forced-answer.ts'
import type { LoadedModel } from './loaded-model.ts'
import { finishPicture, preparePicture } from './picture.ts'
import { turnOf } from './turn.ts'
import type { AnswerFinished, ChatEvent, ChatOptions, ChatTurn, ConversationTurn } from './types.ts'

const PICTURES = ['000', '001', '002'].map((name) => goldenPath(`tiny-cases/pictures/${name}.png`))

/** With contexts that hold a picture and a few turns. */
const VISION = [
  ['smolvlm', 260],
  ['smolvlm-one-tile', 200],
  ['llava', 200],
] as const
const TEXT = [
  ['llama3', 200],
  ['qwen2', 200],
  ['qwen3', 200],
] as const

let backend: Backend | undefined
afterEach(async () => {
  await backend?.dispose()
  backend = undefined
})

async function load(model: string, contextLength: number): Promise<LoadedModel> {
  backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
  return loadOnBackend(backend, goldenPath(model), { precision: 'f32', contextLength })
}

type Trimmed = Extract<ChatEvent, { type: 'context-trimmed' }>

interface Round {
  readonly answer: AnswerFinished
  readonly trimmed: readonly Trimmed[]
}

class Talk {
  readonly chat: Conversation
  readonly #loaded: LoadedModel
  /** Pictures by the text of their message. */
  readonly #pictures = new Map<string, string>()

  constructor(loaded: LoadedModel, options: ChatOptions = {}) {
    this.#loaded = loaded
    this.chat = new Conversation(loaded, options, () => {})
  }

  async ask(text: string, maxTokens: number, picture?: string): Promise<Round> {
    if (picture) this.#pictures.set(text, picture)
    const trimmed: Trimmed[] = []
    const message = { text, ...(picture && { images: [picture] }) }
    const answer = await ask(this.chat, message, { maxTokens, ignoreEos: true, detail: 'low' }, (event) => {
      if (event.type === 'context-trimmed') trimmed.push(event)
    })
    return { answer, trimmed }
  }

  /**
   * What followed the last trimming is likeliest behind what was kept of the conversation, computed at once from nothing.
   * Returns how many tokens of the answer came before that.
   */
  async expectFresh({ answer: { tokenIds }, trimmed }: Round): Promise<number> {
    const loaded = this.#loaded
    const kept = this.chat.turns.slice(0, -1).map((turn) => this.#given(turn))
    const pictures = []
    for (const picture of kept.flatMap((turn) => (turn.role === 'user' ? (turn.images ?? []) : [])))
      pictures.push(await finishPicture(loaded, await preparePicture(loaded, picture, { detail: 'low' })))
    const prompt = buildChatPrompt(
      loaded,
      kept.map((turn) => turnOf(turn).message),
      pictures,
    )
    const { vocabSize } = loaded.model.config.decoder
    const logits = await forceAnswer(loaded, prompt, tokenIds)
    const fresh = tokenIds.map((_, index) =>
      argmax(logits.subarray(index * vocabSize, (index + 1) * vocabSize)),
    )
    const before = (trimmed.at(-1)?.promptTokens ?? prompt.ids.length) - prompt.ids.length
    expect(tokenIds.slice(before)).toEqual(fresh.slice(before))
    return before
  }

  #given({ role, text, imageCount }: ConversationTurn): ChatTurn {
    if (role !== 'user') return { role, text }
    const picture = this.#pictures.get(text)
    return { role, text, ...(imageCount > 0 && picture && { images: [picture] }) }
  }
}

describe('dropping the oldest', () => {
  it.each([...VISION, ...TEXT])('%s answers from what was kept, turn after turn', async (model, length) => {
    const loaded = await load(model, length)
    const talk = new Talk(loaded, { system: 'You are brief.' })
    let trimmings = 0
    for (let turn = 0; turn < 12; turn++) {
      const picture = loaded.model.pictures && turn % 4 === 0 ? PICTURES[turn / 4] : undefined
      const round = await talk.ask(`Question ${turn}: what is next to the red one?`, 14, picture)
      expect(round.answer.finishReason).toBe('length')
      trimmings += round.trimmed.length
      await talk.expectFresh(round)
      expect(talk.chat.turns[0]).toEqual({ role: 'system', text: 'You are brief.', imageCount: 0 })
      const seen = talk.chat.turns.findLast(({ imageCount }) => imageCount > 0)
      if (loaded.model.pictures) expect(seen?.text).toContain(`Question ${turn - (turn % 4)}:`)
    }
    // Not at every turn: a quarter of the context is free afterwards.
    expect(trimmings).toBeGreaterThanOrEqual(2)
    expect(trimmings).toBeLessThan(8)
  })

  it.each([...VISION.slice(0, 1), ...TEXT])(
    '%s goes on in the middle of an answer',
    async (model, length) => {
      const talk = new Talk(await load(model, length))
      await talk.ask('What is it?', 20)
      await talk.ask('And what is that?', 20)
      const round = await talk.ask('Tell me everything about it.', length)
      expect(round.trimmed.length).toBeGreaterThan(0)
      // Then nothing was left to drop.
      expect(round.answer.finishReason).toBe('context-full')
      expect(talk.chat.turns.map(({ role, text }) => `${role}: ${text}`)).toEqual([
        'user: Tell me everything about it.',
        `assistant: ${round.answer.text}`,
      ])
      const before = await talk.expectFresh(round)
      expect(before).toBeGreaterThan(20)
      expect(round.answer.tokenIds.length).toBeGreaterThan(before + 20)
    },
  )

  it('says what was dropped', async () => {
    const talk = new Talk(await load('smolvlm-one-tile', 200))
    const said: string[] = []
    for (let turn = 0; turn < 9; turn++) {
      const text = `Number ${turn}?`
      const { answer, trimmed } = await talk.ask(text, 14, turn < 2 ? PICTURES[turn] : undefined)
      said.push(text, answer.text)
      const [event] = trimmed
      if (!event) continue
      // The first picture goes before any text, so it is no picture of the turn that is dropped then.
      expect(event.droppedImages).toBe(1)
      const texts = event.droppedTurns.map((one) => one.text)
      expect(texts).toEqual(said.slice(0, texts.length))
      expect(texts.length).toBeGreaterThan(0)
      expect(event.promptTokens).toBe(answer.usage.promptTokens)
      expect(event.promptTokens).toBeLessThanOrEqual(150)
      return
    }
    throw new Error('Nothing was dropped.')
  })

  it('keeps the computed beginning: system prompt and newest picture', async () => {
    const talk = new Talk(await load('llava', 200), { system: 'You are brief.' })
    await talk.ask('What is it?', 10, PICTURES[0])
    for (let turn = 0; turn < 12; turn++) {
      const { answer, trimmed } = await talk.ask(`Number ${turn}, and why?`, 12)
      if (trimmed.length === 0) continue
      const [system, question] = talk.chat.turns
      expect([system?.text, question?.text]).toEqual(['You are brief.', 'What is it?'])
      expect(answer.usage.cachedTokens).toBeGreaterThan(answer.usage.imageTokens + 10)
      return
    }
    throw new Error('Nothing was dropped.')
  })

  it('refuses what is too long by itself, and leaves the conversation as it was', async () => {
    const talk = new Talk(await load('llama3', 200))
    await talk.ask('Hello', 5)
    const before = talk.chat.turns
    await expect(talk.ask('cat '.repeat(300), 5)).rejects.toMatchObject({ code: 'generation/context-full' })
    expect(talk.chat.turns).toEqual(before)
    expect((await talk.ask('Hello', 5)).trimmed).toEqual([])
  })
})

describe('summarising', () => {
  it.each([VISION[0], ...TEXT])(
    '%s goes on from what it wrote about the turns that went',
    async (model, length) => {
      const loaded = await load(model, length)
      const talk = new Talk(loaded, { system: 'You are brief.', whenFull: 'summarise' })
      const summaries: string[] = []
      for (let turn = 0; turn < 12; turn++) {
        const picture = loaded.model.pictures && turn === 0 ? PICTURES[0] : undefined
        const round = await talk.ask(`Question ${turn}: what is next?`, 10, picture)
        await talk.expectFresh(round)
        for (const { summary } of round.trimmed) if (summary !== undefined) summaries.push(summary)
        const system = [
          'You are brief.',
          ...summaries.slice(-1).map((one) => `Earlier in this conversation: ${one}`),
        ]
        expect(talk.chat.turns[0]).toEqual({ role: 'system', text: system.join('\n\n'), imageCount: 0 })
      }
      // Models of random weights write broken characters, some of them too many.
      expect(summaries.length).toBeGreaterThan(0)
    },
  )

  it('makes a system prompt where there was none', async () => {
    const talk = new Talk(await load('qwen2', 200), { whenFull: 'summarise' })
    let summary: string | undefined
    for (let turn = 0; summary === undefined; turn++)
      summary = (await talk.ask(`Question ${turn}: what is next?`, 10)).trimmed[0]?.summary
    expect(talk.chat.turns[0]).toEqual({
      role: 'system',
      text: `Earlier in this conversation: ${summary}`,
      imageCount: 0,
    })
  })

  it('can be aborted, which leaves the conversation as it was', async () => {
    const loaded = await load('llama3', 200)
    let onPass = (): void => {}
    const line = loaded.queue.line()
    loaded.queue.line = () => ({
      run(work, signal) {
        onPass()
        return line.run(work, signal)
      },
    })
    const talk = new Talk(loaded, { whenFull: 'summarise' })
    for (let turn = 0; ; turn++) {
      const before = talk.chat.turns
      const controller = new AbortController()
      let passes = 0
      onPass = () => {
        if (++passes === 3) controller.abort()
      }
      const events: ChatEvent['type'][] = []
      const { finishReason } = await ask(
        talk.chat,
        `Question ${turn}: what is next?`,
        { maxTokens: 25, signal: controller.signal },
        ({ type }) => events.push(type),
      )
      onPass = () => {}
      expect(finishReason).toBe('aborted')
      if (events.length === 1) {
        expect(talk.chat.turns).toEqual(before)
        return
      }
      await talk.ask(`Question ${turn}: what is next?`, 10)
    }
  })
})

describe('stopping', () => {
  it('ends an answer where the context ends, and refuses the next message', async () => {
    const talk = new Talk(await load('llama3', 120), { whenFull: 'stop' })
    await talk.ask('What is it?', 20)
    const { answer, trimmed } = await talk.ask('And that?', 200)
    expect([answer.finishReason, trimmed]).toEqual(['context-full', []])
    expect(answer.usage.promptTokens + answer.usage.completionTokens).toBe(121)
    await expect(talk.ask('More?', 5)).rejects.toMatchObject({ code: 'generation/context-full' })
  })

  it('is what texts without a template do', async () => {
    const loaded = await load('llama3', 120)
    expect(() => new Talk(loaded, { template: false, whenFull: 'drop-oldest' })).toThrow(
      'Without a template there are no turns that could be left out; "whenFull" must be stop, found drop-oldest.',
    )
    const talk = new Talk(loaded, { template: false })
    expect((await talk.ask('Once upon a time', 200)).answer.finishReason).toBe('context-full')
    await expect(talk.ask('More', 5)).rejects.toMatchObject({ code: 'generation/context-full' })
  })
})
