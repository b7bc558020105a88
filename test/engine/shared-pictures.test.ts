/** Pictures that a model has seen are not looked at again, whoever asks. */
import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ChatEvent, type ImageReport, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const OTHER = goldenPath('tiny-cases/pictures/001.png')
const QUESTION = { text: '图里有什么？', images: [PICTURE] }
const ANSWER = '我看到上方有一个停车标志。'

let model: Model
beforeEach(async () => {
  model = await loadModel(goldenPath('../../models/tiny'))
})
afterEach(() => model.dispose())

interface Seen {
  readonly text: string
  readonly images: readonly ImageReport[]
  /** Frames that went through the tower. */
  readonly frames: number
}

async function look(
  message: Parameters<typeof ask>[1],
  options: Parameters<typeof ask>[2] = {},
): Promise<Seen> {
  const chat = model.chat()
  const events: ChatEvent[] = []
  const { text, images } = await ask(chat, message, options, (event) => events.push(event))
  chat.dispose()
  return { text, images, frames: events.filter(({ type }) => type === 'image-progressed').length }
}

describe('a picture that is known', () => {
  it('skips the tower in another conversation, open or closed, and gives the same answer', async () => {
    const first = await look(QUESTION)
    expect([first.text, first.frames, first.images[0]?.cached]).toEqual([ANSWER, 1, false])
    const allocated = model.info.allocatedBytes
    const second = await look(QUESTION)
    expect([second.text, second.frames, second.images[0]?.cached]).toEqual([ANSWER, 0, true])
    expect(second.images[0]).toEqual({ ...first.images[0], cached: true })
    expect(model.info.allocatedBytes).toBe(allocated)
  })

  it('is known by its pixels, whatever it came as', async () => {
    await look(QUESTION)
    const { data, info } = await sharp(readFileSync(PICTURE))
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const pixels = { data: new Uint8Array(data), width: info.width, height: info.height }
    const webp = new Uint8Array(await sharp(PICTURE).webp({ lossless: true }).toBuffer())
    for (const image of [pixels, webp]) expect((await look({ ...QUESTION, images: [image] })).frames).toBe(0)
    pixels.data[0] = (pixels.data[0] as number) ^ 1
    expect((await look({ ...QUESTION, images: [pixels] })).frames).toBe(1)
  })

  it('is looked at once when a message shows it twice', async () => {
    const { frames, images } = await look(
      { text: 'Same?', images: [PICTURE, PICTURE, OTHER] },
      { maxTokens: 1 },
    )
    expect(frames).toBe(2)
    expect(images.map(({ cached }) => cached)).toEqual([false, true, false])
  })

  it('is looked at once when two ask at the same time', async () => {
    const seen = await Promise.all([look(QUESTION), look(QUESTION)])
    expect(seen.map(({ text }) => text)).toEqual([ANSWER, ANSWER])
    expect((await look(QUESTION)).frames).toBe(0)
  })

  it('keeps its place in the cache of a conversation that asks about it again', async () => {
    const chat = model.chat()
    await ask(chat, QUESTION)
    let computed = 0
    const { usage } = await ask(
      chat,
      { text: 'And again?', images: [PICTURE] },
      { maxTokens: 1 },
      (event) => {
        if (event.type === 'prompt-progressed') computed = event.totalTokens
      },
    )
    expect(usage.imageTokens).toBe(128)
    expect(computed).toBe(usage.promptTokens - usage.cachedTokens)
    chat.dispose()
  })
})

describe('looking otherwise', () => {
  it('is another picture', async () => {
    const tiling = await loadModel(goldenPath('smolvlm'), { precision: 'f32' })
    const framesOf = async (options: Parameters<typeof ask>[2]): Promise<number> => {
      const chat = tiling.chat()
      let frames = 0
      await ask(chat, { text: 'a', images: [PICTURE] }, { maxTokens: 1, ...options }, ({ type }) => {
        if (type === 'image-progressed') frames++
      })
      chat.dispose()
      return frames
    }
    const high = await framesOf({ detail: 'high' })
    expect(high).toBeGreaterThan(1)
    expect(await framesOf({ detail: 'low' })).toBe(1)
    expect(await framesOf({ detail: 'low', imageTokens: 1 })).toBe(1)
    expect(await framesOf({ detail: 'high' })).toBe(0)
    // What `auto` chooses for this picture.
    expect(await framesOf({ detail: 'auto' })).toBe(0)
    await tiling.dispose()
  })
})

describe('the budget', () => {
  it('of 0 keeps nothing', async () => {
    const forgetful = await loadModel(goldenPath('../../models/tiny'), { imageCacheBytes: 0 })
    for (let count = 0; count < 2; count++) {
      const chat = forgetful.chat()
      const { images } = await ask(chat, QUESTION)
      expect(images[0]?.cached).toBe(false)
      chat.dispose()
    }
    await forgetful.dispose()
  })

  it('is a whole number', async () => {
    await expect(loadModel(goldenPath('../../models/tiny'), { imageCacheBytes: -1 })).rejects.toMatchObject({
      message: 'The option "imageCacheBytes" must be a whole number of at least 0; found -1.',
    })
  })
})

describe('giving up', () => {
  it('in the middle of a picture leaves nothing half encoded', async () => {
    const tiling = await loadModel(goldenPath('smolvlm'), { precision: 'f32' })
    const chat = tiling.chat()
    for await (const event of chat.send({ text: 'a', images: [PICTURE] }, { detail: 'high' }))
      if (event.type === 'image-progressed') break
    const { images } = await ask(chat, { text: 'a', images: [PICTURE] }, { detail: 'high', maxTokens: 1 })
    expect(images[0]?.cached).toBe(false)
    await tiling.dispose()
  })
})
