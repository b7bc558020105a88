import { EngineError } from 'onsight'
import { describe, expect, it } from 'vitest'
import type { Picture } from '../pictures/picture.ts'
import type { ConversationState } from './conversation-ports.ts'
import { Conversation } from './create-conversation.ts'
import { answerOf } from './exchange.ts'
import { type Script, ScriptedModel } from './scripted-model.case.ts'

const picture = (id: string): Picture => ({
  id,
  blob: new Blob([id]),
  thumbnail: new Blob([]),
  name: `${id}.png`,
  width: 8,
  height: 8,
})

function begin(scripts: Script[]) {
  const model = new ScriptedModel(scripts)
  const models = [model]
  const kept: ConversationState[] = []
  const told: string[] = []
  let ids = 0
  const conversation = new Conversation({
    answering: async () => {
      const current = models.at(-1) as ScriptedModel
      return { model: current, info: current.info, answeredBy: { route: 'local', model: current.info.name } }
    },
    compose: ({ text }, earlier) => ({
      prompt: `<${text}>`,
      options: { maxTokens: 48 },
      language: 'en',
      ...(earlier === 'No.' && { caution: 'safety' }),
    }),
    expectedLanguage: () => 'en',
    present: (language) => {
      told.push(`begin ${language}`)
      return { push: (delta) => told.push(delta), finish: (outcome) => told.push(outcome) }
    },
    keep: (state) => kept.push(state),
    now: () => 0,
    createId: () => `id${++ids}`,
  })
  const texts = (): string[] =>
    conversation.exchanges.value.flatMap((one) => [one.question.text, answerOf(one).text])
  return { conversation, model, models, kept, told, texts }
}

/** Something that a test lets happen. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), wait: () => opened }
}

const last = ({ conversation }: ReturnType<typeof begin>) => answerOf(conversation.exchanges.value.at(-1)!)

describe('asking', () => {
  it('goes on in the same chat, with the picture only once', async () => {
    const world = begin([['A ', 'dog.'], ['On the left.']])
    const dog = picture('dog')
    await world.conversation.ask('What is it?', { mode: 'describe', pictures: [dog] })
    await world.conversation.ask('Where?', { mode: 'describe' })
    expect(world.texts()).toEqual(['What is it?', 'A dog.', 'Where?', 'On the left.'])
    expect(world.model.asked.map(({ chat, message }) => [chat, message])).toEqual([
      [1, { text: '<What is it?>', images: [dog.blob] }],
      [1, { text: '<Where?>' }],
    ])
    expect(world.told).toEqual(['begin en', 'A ', 'dog.', 'finished', 'begin en', 'On the left.', 'finished'])
    expect(last(world)).toMatchObject({
      state: 'finished',
      answeredBy: { route: 'local', model: 'scripted' },
      measured: { tokensPerSecond: 90, imageEncodeMs: 12, finishReason: 'stop' },
    })
    expect(world.conversation.messages.value.map(({ role, state }) => `${role} ${state}`)).toEqual([
      'user sent',
      'assistant finished',
      'user sent',
      'assistant finished',
    ])
  })

  it('stops the answer that goes on, and its text stays', async () => {
    const { open, wait } = gate()
    const world = begin([['One ', wait, 'two'], ['Three.']])
    const first = world.conversation.ask('Count.', { mode: 'describe' })
    await expect.poll(() => world.texts()).toEqual(['Count.', 'One '])
    expect(world.conversation.isAnswering.value).toBe(true)
    const second = world.conversation.ask('On?', { mode: 'describe' })
    open()
    await Promise.all([first, second])
    expect(world.texts()).toEqual(['Count.', 'One ', 'On?', 'Three.'])
    expect(world.conversation.exchanges.value.map((one) => answerOf(one).state)).toEqual([
      'stopped',
      'finished',
    ])
    expect(world.conversation.isAnswering.value).toBe(false)
    // What was said so far is part of the chat.
    expect(world.model.asked.map(({ chat }) => chat)).toEqual([1, 1])
  })

  it('says what the model forgot and who answered', async () => {
    const world = begin([['No.'], ['Yes.']])
    await world.conversation.ask('One?', { mode: 'describe' })
    await world.conversation.ask('Two?', { mode: 'ahead' })
    expect(last(world)).toMatchObject({ caution: 'safety' })
  })

  it('keeps every change', async () => {
    const world = begin([['Yes.']])
    await world.conversation.ask('One?', { mode: 'describe' })
    expect(world.kept.map(({ id, exchanges }) => [id, exchanges.map((one) => answerOf(one).state)])).toEqual([
      [world.conversation.id, ['waiting']],
      [world.conversation.id, ['finished']],
    ])
  })
})

describe('another answer', () => {
  it('is asked for in the same chat and leaves the first one to go back to', async () => {
    const world = begin([['A cat.'], ['A dog.'], ['Black.']])
    await world.conversation.ask('What?', { mode: 'describe' })
    const { id } = world.conversation.exchanges.value[0]!
    await world.conversation.regenerate(id)
    expect(world.model.asked.map(({ chat, act }) => [chat, act])).toEqual([
      [1, 'send'],
      [1, 'regenerate'],
    ])
    expect(world.model.asked[1]!.options).toMatchObject({ temperature: 0.8 })
    expect(world.conversation.exchanges.value[0]!.answers.map(({ text }) => text)).toEqual([
      'A cat.',
      'A dog.',
    ])
    expect(world.texts()).toEqual(['What?', 'A dog.'])

    world.conversation.show(id, 0)
    await world.conversation.ask('Its colour?', { mode: 'describe' })
    // The model is told of the answer that is shown.
    expect(world.model.asked[2]).toMatchObject({
      chat: 2,
      messages: [
        { role: 'user', text: '<What?>' },
        { role: 'assistant', text: 'A cat.' },
      ],
    })
    expect(world.model.disposed).toEqual([1])
  })

  it('in the middle takes away what followed, which can be brought back', async () => {
    const world = begin([['A.'], ['B.'], ['C.']])
    await world.conversation.ask('1', { mode: 'describe' })
    await world.conversation.ask('2', { mode: 'describe' })
    await world.conversation.regenerate(world.conversation.exchanges.value[0]!.id)
    expect(world.texts()).toEqual(['1', 'C.'])
    await world.conversation.undo()
    expect(world.texts()).toEqual(['1', 'A.', '2', 'B.'])
    expect(world.conversation.removed.value).toBe(undefined)
  })
})

describe('an edited question', () => {
  it('is asked about the same pictures in place of the old one', async () => {
    const world = begin([['A.'], ['B.'], ['C.'], ['D.']])
    const dog = picture('dog')
    await world.conversation.ask('1', { mode: 'describe', pictures: [dog] })
    await world.conversation.ask('2', { mode: 'describe' })
    await world.conversation.edit(world.conversation.exchanges.value[0]!.id, 'one')
    expect(world.texts()).toEqual(['one', 'C.'])
    expect(world.model.asked[2]).toMatchObject({ chat: 2, messages: [], message: { images: [dog.blob] } })
    await world.conversation.undo()
    expect(world.texts()).toEqual(['1', 'A.', '2', 'B.'])
    await world.conversation.ask('3', { mode: 'describe' })
    expect(world.model.asked[3]!.messages).toEqual([
      { role: 'user', text: '<1>', images: [dog.blob] },
      { role: 'assistant', text: 'A.' },
      { role: 'user', text: '<2>' },
      { role: 'assistant', text: 'B.' },
    ])
  })
})

describe('failures', () => {
  const lost = () => new EngineError('backend/lost', { message: 'The worker is gone.', hint: 'Ask again.' })

  it('stay with their message, and asking again rebuilds the chat', async () => {
    const world = begin([['A.'], ['Half an', lost()], ['B.']])
    await world.conversation.ask('1', { mode: 'describe' })
    await world.conversation.ask('2', { mode: 'describe' })
    expect(world.texts()).toEqual(['1', 'A.', '2', 'Half an'])
    expect(last(world)).toMatchObject({
      state: 'failed',
      error: { code: 'backend/lost', message: 'The worker is gone.', hint: 'Ask again.' },
    })
    expect(world.told.slice(-2)).toEqual(['Half an', 'failed'])
    const other = new ScriptedModel([['B.']], 'other')
    world.models.push(other)
    await world.conversation.regenerate(world.conversation.exchanges.value[1]!.id)
    expect(world.texts()).toEqual(['1', 'A.', '2', 'B.'])
    expect(other.asked).toMatchObject([
      {
        act: 'send',
        messages: [
          { role: 'user', text: '<1>' },
          { role: 'assistant', text: 'A.' },
        ],
        message: { text: '<2>' },
      },
    ])
  })

  it('of the worker before a word are tried once more', async () => {
    const world = begin([[lost()], ['A.']])
    await world.conversation.ask('1', { mode: 'describe' })
    expect(world.texts()).toEqual(['1', 'A.'])
    expect(last(world).state).toBe('finished')
    expect(world.model.asked.map(({ chat }) => chat)).toEqual([1, 2])
  })

  it('of a picture are not tried again, and the next question leaves them out', async () => {
    const broken = new EngineError('image/decode-failed', { message: 'dog.png is damaged.' })
    const world = begin([[broken], ['B.']])
    await world.conversation.ask('1', { mode: 'describe', pictures: [picture('dog')] })
    expect(last(world)).toMatchObject({ state: 'failed', error: { code: 'image/decode-failed' } })
    await world.conversation.ask('2', { mode: 'describe' })
    expect(world.model.asked[1]).toMatchObject({ messages: [], message: { text: '<2>' } })
  })
})

describe('for a conversation by voice', () => {
  it('streams the answer and stays silent itself', async () => {
    const world = begin([['A ', 'dog.']])
    const deltas: string[] = []
    const { signal } = new AbortController()
    for await (const delta of world.conversation.answer('What?', signal, { mode: 'describe' }))
      deltas.push(delta)
    expect(deltas).toEqual(['A ', 'dog.'])
    expect(world.told).toEqual([])
  })

  it('keeps only what was heard', async () => {
    const world = begin([['A dog. ', 'It sleeps.'], ['Yes.']])
    const { signal } = new AbortController()
    for await (const _ of world.conversation.answer('What?', signal, { mode: 'describe' }));
    await world.conversation.interrupted('A dog.')
    expect(world.texts()).toEqual(['What?', 'A dog.'])
    await world.conversation.ask('Sure?', { mode: 'describe' })
    expect(world.model.asked[1]!.messages).toMatchObject([{}, { text: 'A dog.' }])
  })

  it('takes a question back that goes on', async () => {
    const world = begin([['A dog.']])
    const { signal } = new AbortController()
    const pictures = [picture('dog')]
    for await (const _ of world.conversation.answer('What', signal, { mode: 'describe', pictures })) break
    expect(last(world).state).toBe('stopped')
    expect(await world.conversation.interrupted('')).toMatchObject({ text: 'What', pictures })
    expect(world.texts()).toEqual([])
  })

  it('ends when its listener does', async () => {
    const { wait } = gate()
    const world = begin([['A ', wait]])
    const controller = new AbortController()
    controller.abort()
    for await (const _ of world.conversation.answer('What?', controller.signal, { mode: 'describe' }));
    expect(last(world)).toMatchObject({ state: 'stopped', text: '' })
  })
})

describe('conversations', () => {
  it('begin anew and are opened again', async () => {
    const world = begin([['A.'], ['B.'], ['C.']])
    await world.conversation.ask('1', { mode: 'describe' })
    const { state } = world.conversation
    await world.conversation.clear()
    expect(world.conversation.id).not.toBe(state.id)
    expect(world.texts()).toEqual([])
    await world.conversation.ask('other', { mode: 'describe' })
    await world.conversation.open(state)
    expect(world.texts()).toEqual(['1', 'A.'])
    await world.conversation.ask('2', { mode: 'describe' })
    expect(world.model.asked[2]!.messages).toMatchObject([{ text: '<1>' }, { text: 'A.' }])
  })

  it('that ended in the middle of an answer are not answering', async () => {
    const world = begin([])
    const answer = { id: 'a', text: 'Half', state: 'answering', language: 'en' } as const
    const question = { text: '1', prompt: '<1>', mode: 'describe', pictures: [] } as const
    await world.conversation.open({
      id: 'x',
      exchanges: [{ id: 'e', question, answers: [answer], shown: 0 }],
    })
    expect(last(world)).toMatchObject({ text: 'Half', state: 'stopped' })
  })
})
