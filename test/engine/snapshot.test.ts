/** A conversation that is saved and restored goes on as if nothing had happened. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Chat,
  type ChatOptions,
  EngineError,
  type LoadModelOptions,
  loadModel,
  type Model,
  readSnapshotText,
} from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const TINY = goldenPath('../../models/tiny')
const PICTURES = [0, 1, 2].map((index) => goldenPath(`tiny-cases/pictures/00${index}.png`))
const ENDLESS = { maxTokens: 12, ignoreEos: true, detail: 'low' } as const

let tiny: Model
beforeAll(async () => {
  tiny = await loadModel(TINY)
})
afterAll(() => tiny.dispose())

/** What the next answer is, and what of its prompt was known. */
async function goOn(chat: Chat): Promise<{ tokenIds: readonly number[]; promptTokens: number }> {
  const { tokenIds, usage } = await ask(chat, 'And what else?', ENDLESS)
  // Most of the prompt was known, from the snapshot or from another conversation.
  expect(usage.cachedTokens).toBeGreaterThan(usage.promptTokens / 2)
  return { tokenIds, promptTokens: usage.promptTokens }
}

async function failure(work: Promise<unknown>): Promise<EngineError> {
  try {
    await work
  } catch (error) {
    if (EngineError.isInstance(error)) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

/** A conversation with pictures in two of its turns, where the model takes some. */
async function converse(model: Model, options: ChatOptions = {}): Promise<Chat> {
  const chat = model.chat(options)
  const images = model.info.takesImages ? PICTURES : []
  await ask(chat, { text: 'What is it?', images: images.slice(0, 1) }, ENDLESS)
  await ask(
    chat,
    { text: 'Both: and?', images: images.slice(1), ...(images.length > 0 && { imageOffsets: [0, 5] }) },
    ENDLESS,
  )
  return chat
}

const FAMILIES: readonly (readonly [string, LoadModelOptions])[] = [
  ['smolvlm', { precision: 'f32' }],
  ['smolvlm', { precision: 'q8' }],
  ['smolvlm-one-tile', { precision: 'q8' }],
  ['llava', { precision: 'f32' }],
  ['llava', { precision: 'q8' }],
  ['smolvlm', { precision: 'q8', kv: 'q8' }],
  ['llava', { precision: 'q4', kv: 'q8' }],
  ['llama3', { precision: 'q8', kv: 'f32' }],
  ['qwen2', { precision: 'f32' }],
  ['qwen3', { precision: 'q8' }],
  ['odd/qwen2', { precision: 'f32' }],
  ['odd/smolvlm', { precision: 'q8' }],
  ['../../models/tiny', { precision: 'q4' }],
]

describe('a restored conversation', () => {
  it.each(FAMILIES)('of %s %o goes on with the tokens it would have had', async (name, options) => {
    const model = await loadModel(goldenPath(name), options)
    const again = await loadModel(goldenPath(name), { ...options, threads: 1 })
    const chat = await converse(model, { system: 'Be brief.' })
    const saved = await chat.save()
    const restored = await again.restore(saved)
    expect(restored.turns).toEqual(chat.turns)
    const second = await again.restore(saved)
    const expected = await goOn(chat)
    expect(await goOn(restored)).toEqual(expected)
    restored.dispose()
    expect(await goOn(second)).toEqual(expected)
    second.dispose()
    chat.dispose()
    await Promise.all([model.dispose(), again.dispose()])
  })

  it('can be saved and restored again and again', async () => {
    let chat = await converse(tiny)
    const whole = await converse(tiny)
    for (let round = 0; round < 3; round++) {
      const restored = await tiny.restore(await chat.save())
      chat.dispose()
      chat = restored
      expect(await goOn(chat)).toEqual(await goOn(whole))
    }
  })

  it('can be answered again and edited, with the pictures it had', async () => {
    const chat = await converse(tiny)
    const restored = await tiny.restore(await chat.save())
    const answer = async (one: Chat) => {
      let text = ''
      for await (const event of one.edit(0, { text: 'Is there a cat?' }, ENDLESS))
        if (event.type === 'answer-finished') text = event.text
      return text
    }
    expect(await answer(restored)).toBe(await answer(chat))
  })

  it('may have the same picture twice, and forget one of them', async () => {
    const chat = tiny.chat()
    const images = [PICTURES[0]!, PICTURES[0]!]
    await ask(chat, { text: 'Two?', images }, ENDLESS)
    await ask(chat, { text: 'Again?', images }, ENDLESS)
    const restored = await tiny.restore(await chat.save())
    const again = async (one: Chat) => {
      const found = []
      for await (const event of one.edit(2, { text: 'And?', images: [] }, ENDLESS))
        if (event.type === 'answer-finished') found.push(event.tokenIds, event.usage.promptTokens)
      return [...found, await goOn(one)]
    }
    const expected = await again(chat)
    chat.dispose()
    expect(await again(restored)).toEqual(expected)
  })

  it('does not pass off its pictures as those of others', async () => {
    const chat = await converse(tiny)
    const model = await loadModel(TINY)
    await model.restore(await chat.save())
    const { images } = await ask(model.chat(), { text: 'What is it?', images: PICTURES.slice(0, 1) }, ENDLESS)
    expect(images.map(({ cached }) => cached)).toEqual([false])
    await model.dispose()
  })

  it('takes new pictures', async () => {
    const chat = await converse(tiny)
    const restored = await tiny.restore(await chat.save())
    const question = { text: 'And this?', images: PICTURES.slice(0, 1) }
    const expected = await ask(chat, question, ENDLESS)
    const found = await ask(restored, question, ENDLESS)
    // How many tokens are drafted depends on what that cost until then.
    expect(found.tokenIds).toEqual(expected.tokenIds)
    expect(found.usage.promptTokens).toBe(expected.usage.promptTokens)
    expect(found.usage.cachedTokens).toBe(expected.usage.cachedTokens)
  })

  it('keeps its options', async () => {
    const chat = tiny.chat({ template: false })
    await ask(chat, 'Once upon', ENDLESS)
    const restored = await tiny.restore(await chat.save())
    const expected = await ask(chat, ' a time', ENDLESS)
    expect((await ask(restored, ' a time', ENDLESS)).tokenIds).toEqual(expected.tokenIds)
  })

  it('gives its memory back', async () => {
    const before = tiny.info.allocatedBytes
    const chat = await converse(tiny)
    const saved = await chat.save()
    chat.dispose()
    const restored = await tiny.restore(saved)
    expect(tiny.info.allocatedBytes).toBeGreaterThan(before)
    restored.dispose()
    expect(tiny.info.allocatedBytes).toBe(before)
  })

  it('that began with nothing is nothing', async () => {
    const chat = await tiny.restore(await tiny.chat({ system: 'Be brief.' }).save())
    expect(chat.turns).toEqual([{ role: 'system', text: 'Be brief.', imageCount: 0 }])
    const fresh = tiny.chat({ system: 'Be brief.' })
    expect((await ask(chat, 'Hello', ENDLESS)).tokenIds).toEqual(
      (await ask(fresh, 'Hello', ENDLESS)).tokenIds,
    )
  })

  it('of earlier turns whose pictures nobody has looked at names them', async () => {
    const messages = [
      { role: 'user', text: 'What is it?', images: [PICTURES[0]!], detail: 'low' },
      { role: 'assistant', text: 'A thing.' },
    ] as const
    const chat = tiny.chat({ messages })
    const restored = await tiny.restore(await chat.save())
    expect(await goOn(restored)).toEqual(await goOn(chat))
    const bytes = readFileSync(PICTURES[0]!)
    const unnamed = tiny.chat({ messages: [{ role: 'user', text: 'Hi', images: [new Uint8Array(bytes)] }] })
    expect(await failure(unnamed.save())).toMatchObject({ code: 'snapshot/waiting-picture' })
  })

  it('with keys and values of another type is computed anew', async () => {
    const chat = await converse(tiny)
    const other = await loadModel(TINY, { kv: 'f32' })
    const restored = await other.restore(await chat.save())
    const { usage } = await ask(restored, 'And what else?', ENDLESS)
    expect([usage.cachedTokens, usage.imageTokens]).toEqual([0, 192])
    await other.dispose()
  })

  it('in a shorter context is computed anew, from pictures as they were encoded', async () => {
    const chat = await converse(tiny)
    const saved = await chat.save()
    const shorter = await loadModel(TINY, { contextLength: 250 })
    const restored = await shorter.restore(saved)
    const { usage, images } = await ask(restored, 'And what else?', { ...ENDLESS, maxTokens: 4 })
    expect([usage.cachedTokens, images]).toEqual([0, []])
    await shorter.dispose()
  })
})

describe('places', () => {
  it('are paths, file URLs, streams, bytes and blobs', async () => {
    const chat = await converse(tiny)
    const folder = folders.create({})
    const path = join(folder, 'chat.snapshot')
    await chat.save(path)
    await chat.save(pathToFileURL(join(folder, 'url.snapshot')))
    const parts: Uint8Array[] = []
    await chat.save(new WritableStream({ write: (part) => void parts.push(part) }))
    const blob = await chat.save()
    const bytes = readFileSync(path)
    expect(readFileSync(join(folder, 'url.snapshot')).equals(bytes)).toBe(true)
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
    expect(Buffer.from(await blob.arrayBuffer()).equals(bytes)).toBe(true)
    const expected = await goOn(chat)
    const handle = { getFile: async () => blob, createWritable: async () => new WritableStream() }
    for (const from of [path, pathToFileURL(path), blob, new Uint8Array(bytes), handle])
      expect(await goOn(await tiny.restore(from))).toEqual(expected)
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('that cannot be are refused by name', async () => {
    const chat = tiny.chat()
    const folder = folders.create({})
    expect(await failure(chat.save(join(folder, 'none', 'a')))).toMatchObject({ code: 'file/not-found' })
    expect(await failure(chat.save(folder))).toMatchObject({ code: 'file/is-directory' })
    expect(await failure(chat.save('' as string))).toMatchObject({ code: 'option/invalid' })
    expect(await failure(chat.save(7 as never))).toMatchObject({ code: 'option/invalid' })
    expect(await failure(tiny.restore(join(folder, 'none')))).toMatchObject({ code: 'file/not-found' })
    expect(await failure(tiny.restore(null as never))).toMatchObject({ code: 'option/invalid' })
    expect(await failure(tiny.restore(new Uint8Array()))).toMatchObject({ code: 'snapshot/not-a-snapshot' })
  })

  it('a stream that fails is told, and the conversation goes on', async () => {
    const chat = await converse(tiny)
    const full = new WritableStream({ write: () => Promise.reject(new Error('no space')) })
    expect(await failure(chat.save(full))).toMatchObject({ code: 'file/write-failed' })
    await goOn(chat)
  })
})

describe('saving', () => {
  it('and answering do not go together', async () => {
    const chat = await converse(tiny)
    const saving = chat.save()
    expect(await failure(goOn(chat))).toMatchObject({ code: 'generation/busy' })
    await saving
    const events = chat.send({ text: 'Hello' }, ENDLESS)
    await events.next()
    expect(await failure(chat.save())).toMatchObject({ code: 'generation/busy' })
    await events.return?.()
    await chat.save()
  })

  it('can be aborted, which leaves what was there', async () => {
    const chat = await converse(tiny)
    const path = join(folders.create({ 'chat.snapshot': 'before' }), 'chat.snapshot')
    await expect(chat.save(path, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
    expect(readFileSync(path, 'utf8')).toBe('before')
  })

  it('of a closed conversation is refused', async () => {
    const chat = await converse(tiny)
    chat.dispose()
    expect(await failure(chat.save())).toMatchObject({ code: 'generation/disposed' })
  })

  it('while another conversation answers changes neither', async () => {
    const chat = await converse(tiny)
    const other = await converse(tiny)
    const alone = await goOn(await converse(tiny))
    const [saved, found] = await Promise.all([chat.save(), goOn(other)])
    expect(found).toEqual(alone)
    expect(await goOn(await tiny.restore(saved))).toEqual(alone)
  })
})

describe('another model', () => {
  it('is told by what differs, and the text is recovered', async () => {
    const saved = await (await converse(tiny)).save()
    const cases: readonly (readonly [string, LoadModelOptions, RegExp])[] = [
      [TINY, { precision: 'q4' }, /another precision \(q8, not q4\)/],
      [goldenPath('smolvlm'), { precision: 'q8' }, /another architecture/],
      [goldenPath('llama3'), {}, /another architecture/],
    ]
    for (const [path, options, difference] of cases) {
      const model = await loadModel(path, options)
      const error = await failure(model.restore(saved))
      expect(error.code).toBe('snapshot/foreign-model')
      expect(error.message).toMatch(difference)
      expect(model.info.allocatedBytes).toBe((await loadedBytes(path, options)).allocatedBytes)
      await model.dispose()
    }
    const { turns, model, missingImages } = await readSnapshotText(saved)
    expect(turns.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'What is it?'],
      ['assistant', expect.any(String)],
      ['user', 'Both: and?'],
      ['assistant', expect.any(String)],
    ])
    expect(turns[2]).toMatchObject({ images: PICTURES.slice(1), imageOffsets: [0, 5] })
    expect([model, missingImages]).toEqual([tiny.info.name, 0])
  })

  it('with the same shapes and other weights is another one', async () => {
    const weights = readFileSync(join(TINY, 'model.safetensors'))
    weights[weights.length - 100_000] = (weights[weights.length - 100_000] as number) ^ 1
    const header = Number(weights.readBigUInt64LE(0))
    weights[8 + header] = (weights[8 + header] as number) ^ 1 // the first byte of a tensor
    const model = await loadModel(folders.copy(TINY, { 'model.safetensors': weights }))
    const error = await failure(model.restore(await (await converse(tiny)).save()))
    expect([error.code, /it has other weights\.$/.test(error.message)]).toEqual([
      'snapshot/foreign-model',
      true,
    ])
    await model.dispose()
  })

  it('goes on from the recovered text', async () => {
    const chat = await converse(tiny)
    const { turns } = await readSnapshotText(await chat.save())
    expect(turns.map(({ text }) => text)).toEqual(chat.turns.map(({ text }) => text))
    const again = tiny.chat({ messages: turns })
    const found = await ask(again, 'And what else?', ENDLESS)
    expect(found.tokenIds).toEqual((await ask(chat, 'And what else?', ENDLESS)).tokenIds)
  })

  it('pictures that came from no file are counted as missing', async () => {
    const chat = tiny.chat()
    const bytes = new Uint8Array(readFileSync(PICTURES[0]!))
    await ask(chat, { text: 'What is it?', images: [bytes, PICTURES[1]!] }, ENDLESS)
    const { turns, missingImages } = await readSnapshotText(await chat.save())
    expect([turns[0], missingImages]).toEqual([
      { role: 'user', text: 'What is it?', images: [PICTURES[1]], imageOffsets: [0] },
      1,
    ])
  })
})

async function loadedBytes(path: string, options: LoadModelOptions): Promise<{ allocatedBytes: number }> {
  const model = await loadModel(path, options)
  const { allocatedBytes } = model.info
  await model.dispose()
  return { allocatedBytes }
}
