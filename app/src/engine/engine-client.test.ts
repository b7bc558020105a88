import type { ChatEvent, EngineError, GenerationOptions, LoadModelOptions } from 'onsight'
import { afterEach, describe, expect, it } from 'vitest'
import { EngineError as SourceError } from '../../../src/shared/errors.ts'
import { createFakeModel, type FakeQuestion } from '../../../src/testing/fake-model.ts'
import type { EngineChat } from './engine.ts'
import { handOver } from './owned-buffers.ts'
import { createTestEngine, type TestEngine, withModel } from './test-engine.case.ts'

let open: TestEngine[] = []
afterEach(() => {
  for (const one of open) one.close()
  open = []
})

function start(parts: Parameters<typeof createTestEngine>[0]): TestEngine {
  const test = createTestEngine(parts)
  open.push(test)
  return test
}

async function collect(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

const textOf = (events: readonly ChatEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

const ask = async (chat: EngineChat, text: string, options?: GenerationOptions): Promise<string> =>
  textOf(await collect(chat.send({ text }, options)))

describe('a model', () => {
  it('answers as in the worker, event for event, and its turns are known here', async () => {
    const direct = await collect(
      createFakeModel()
        .chat()
        .send({ text: 'What is it?', images: [new Blob(['x'])] }),
    )
    const { engine } = start(withModel(createFakeModel()))
    const model = await engine.loadModel('bundled:tiny')
    expect(model.info).toMatchObject({ name: 'fake', threads: 2 })
    const chat = model.chat({ system: 'Be brief.' })
    expect(chat.turns).toEqual([{ role: 'system', text: 'Be brief.', imageCount: 0 }])
    expect(await collect(chat.send({ text: 'What is it?', images: [new Blob(['x'])] }))).toEqual(direct)
    expect(chat.turns).toEqual([
      { role: 'system', text: 'Be brief.', imageCount: 0 },
      { role: 'user', text: 'What is it?', imageCount: 1 },
      { role: 'assistant', text: 'A fox.', imageCount: 0 },
    ])
    // The fake model counts its conversations.
    expect(model.info.allocatedBytes).toBe(1100)
  })

  it('tells how far loading is, and stops when aborted', async () => {
    const asked: LoadModelOptions[] = []
    const { engine } = start({
      loadModel: (_place, options) => {
        asked.push(options)
        options.onProgress?.({ loadedBytes: 5, totalBytes: 10 })
        return new Promise((_resolve, reject) => {
          options.signal?.addEventListener('abort', () => {
            const error = new Error('aborted')
            error.name = 'AbortError'
            reject(error)
          })
        })
      },
    })
    const controller = new AbortController()
    const loading = engine.loadModel('bundled:tiny', {
      threads: 3,
      signal: controller.signal,
      onProgress: (progress) => {
        expect(progress).toEqual({ loadedBytes: 5, totalBytes: 10 })
        controller.abort()
      },
    })
    await expect(loading).rejects.toMatchObject({ name: 'AbortError' })
    expect(asked[0]?.threads).toBe(3)
  })

  it('errors have their code, message and hint', async () => {
    const failure = new SourceError('format/truncated', {
      message: 'model.gguf: expected 900 bytes, found 800.',
      hint: 'Fetch it again.',
      field: 'place',
    })
    const { engine } = start({
      loadModel: async () => {
        throw failure
      },
    })
    const { code, message, hint, field } = failure
    await expect(engine.loadModel('bundled:tiny')).rejects.toMatchObject({ code, message, hint, field })
  })

  it('failures that the engine does not know are EngineErrors too', async () => {
    const { engine } = start({
      loadModel: async () => {
        throw new TypeError('x is not a function')
      },
    })
    await expect(engine.loadModel('bundled:tiny')).rejects.toMatchObject({
      name: 'EngineError',
      code: 'backend/unexpected',
      message: expect.stringContaining('TypeError: x is not a function'),
    })
  })

  it('gives back its conversations with itself', async () => {
    const fake = createFakeModel()
    const { engine } = start(withModel(fake))
    const model = await engine.loadModel('bundled:tiny')
    const [first, second] = [model.chat(), model.chat()]
    await ask(first, 'a')
    await ask(second, 'b')
    expect(fake.openChats).toBe(2)
    first.dispose()
    first.dispose()
    await ask(second, 'c')
    expect(fake.openChats).toBe(1)
    await model.dispose()
    await model.dispose()
    expect(fake.openChats).toBe(0)
    await expect(ask(second, 'd')).rejects.toMatchObject({ code: 'backend/disposed' })
  })
})

describe('a conversation', () => {
  it('aborted in the middle ends with what it has, and goes on', async () => {
    const controller = new AbortController()
    const answer = ({ turn }: FakeQuestion) => ({
      pieces: ['one ', 'two ', 'three'],
      beforePiece: async (index: number) => {
        // The page aborts at the first piece; the second waits until that has arrived.
        if (turn === 0 && index === 1) await new Promise((resolve) => setTimeout(resolve, 20))
      },
    })
    const { engine } = start(withModel(createFakeModel({ answer })))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    const events: ChatEvent[] = []
    for await (const event of chat.send({ text: 'Count.' }, { signal: controller.signal })) {
      events.push(event)
      if (event.type === 'text-delta') controller.abort()
    }
    expect(events.at(-1)).toMatchObject({ type: 'answer-finished', finishReason: 'aborted', text: 'one ' })
    expect(await ask(chat, 'Again.')).toBe('one two three')
  })

  it('that is left early is free for the next question', async () => {
    const { engine, sent } = start(withModel(createFakeModel()))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    for await (const event of chat.send({ text: 'First?' })) if (event.type === 'text-delta') break
    expect(sent.map(({ type }) => type)).toContain('cancel')
    expect(await ask(chat, 'Second?')).toBe('A fox.')
  })

  it('two at once keep their answers apart', async () => {
    const answer = ({ message }: FakeQuestion) => ({
      pieces: [...message.text].map((letter) => `${letter}.`),
      beforePiece: () => new Promise<void>((resolve) => setTimeout(resolve, 1)),
    })
    const { engine } = start(withModel(createFakeModel({ answer })))
    const model = await engine.loadModel('bundled:tiny')
    expect(await Promise.all([ask(model.chat(), 'abc'), ask(model.chat(), 'xyz')])).toEqual([
      'a.b.c.',
      'x.y.z.',
    ])
  })

  it('errors in the middle of an answer come after what was said', async () => {
    const answer = () => ({ error: new SourceError('backend/failed', { message: 'A thread trapped.' }) })
    const { engine } = start(withModel(createFakeModel({ answer })))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    const said: string[] = []
    const failing = (async () => {
      for await (const event of chat.send({ text: '?' }))
        if (event.type === 'text-delta') said.push(event.text)
    })()
    await expect(failing).rejects.toMatchObject({ code: 'backend/failed' })
    expect(said.join('')).toBe('A fox.')
  })

  it('cut, regenerated and edited', async () => {
    const { engine } = start(withModel(createFakeModel()))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    await ask(chat, 'What?')
    chat.cutAnswer('A')
    expect(textOf(await collect(chat.regenerate()))).toBe('A fox.')
    expect(textOf(await collect(chat.edit(0, { text: 'Who?' })))).toBe('A fox.')
    expect(chat.turns.map(({ text }) => text)).toEqual(['Who?', 'A fox.'])
    chat.cutAnswer('')
    await expect.poll(() => chat.turns).toEqual([])
  })

  it('refuses what cannot cross, and stays usable', async () => {
    const { engine } = start(withModel(createFakeModel()))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    await expect(ask(chat, 'x', { stop: (() => 1) as unknown as string[] })).rejects.toMatchObject({
      name: 'DataCloneError',
    })
    expect(await ask(chat, 'y')).toBe('A fox.')
  })

  it('copies pixels unless they were handed over', async () => {
    const fake = createFakeModel()
    const { engine } = start(withModel(fake))
    const chat = (await engine.loadModel('bundled:tiny')).chat()
    const kept = { data: new Uint8Array([1, 2, 3]), width: 1, height: 1 }
    const given = handOver({ data: new Uint8Array([4, 5, 6]), width: 1, height: 1 })
    await collect(chat.send({ text: '?', images: [kept, given] }))
    expect([kept.data.byteLength, given.data.byteLength]).toEqual([3, 0])
    expect(fake.questions[0]?.message.images).toEqual([
      { data: new Uint8Array([1, 2, 3]), width: 1, height: 1 },
      { data: new Uint8Array([4, 5, 6]), width: 1, height: 1 },
    ])
  })
})

describe('a worker that is lost', () => {
  it('rejects everything open; a new one starts with the next request', async () => {
    const beforePiece = (): Promise<void> => new Promise(() => {})
    const test = start(withModel(createFakeModel({ answer: () => ({ beforePiece }) })))
    const lost: EngineError[] = []
    test.engine.onLost((error) => lost.push(error))
    const model = await test.engine.loadModel('bundled:tiny')
    const chat = model.chat()
    const answers = [ask(chat, 'a'), ask(model.chat(), 'b'), model.warmUp().then(() => 'warm')]
    await expect.poll(() => test.sent.filter(({ type }) => type === 'request').length).toBe(4)
    const outcomes = Promise.allSettled(answers)
    test.killWorker()
    expect((await outcomes).slice(0, 2)).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'backend/lost' }) },
      { status: 'rejected', reason: expect.objectContaining({ code: 'backend/lost' }) },
    ])
    expect(lost.map(({ message }) => message)).toEqual([
      "The engine's worker is gone: the browser has ended it.",
    ])
    // What was opened of the lost one stays lost.
    await expect(ask(chat, 'c')).rejects.toMatchObject({ code: 'backend/lost' })
    await model.dispose()
    expect(test.started).toBe(1)
    await test.engine.loadModel('bundled:tiny')
    expect(test.started).toBe(2)
    expect(test.ticking).toBe(1)
  })

  it('is noticed when it does not answer any more', async () => {
    const test = start(withModel(createFakeModel()))
    const model = await test.engine.loadModel('bundled:tiny')
    const lost: EngineError[] = []
    test.engine.onLost((error) => lost.push(error))
    for (let i = 0; i < 40; i++) {
      test.tick()
      // Its answers arrive.
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(lost).toEqual([])
    test.hangWorker()
    const answer = ask(model.chat(), 'anybody there?')
    for (let i = 0; i < 17; i++) test.tick()
    await expect(answer).rejects.toMatchObject({
      code: 'backend/lost',
      message: "The engine's worker is gone: it has not answered for 30 seconds.",
    })
    expect([lost.length, test.ticking]).toEqual([1, 0])
  })

  it('is no loss when the engine was given back', async () => {
    const test = start(withModel(createFakeModel()))
    const lost: EngineError[] = []
    test.engine.onLost((error) => lost.push(error))
    const chat = (await test.engine.loadModel('bundled:tiny')).chat()
    test.engine.dispose()
    test.engine.dispose()
    await expect(ask(chat, 'a')).rejects.toMatchObject({ code: 'backend/disposed' })
    expect(lost).toEqual([])
  })
})
