/** A bound on what a picture costs, for models that tile and for models that do not. */
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReferenceBackend } from '../../src/backend/reference/reference-backend.ts'
import { encodePicture, preparePicture } from '../../src/engine/picture.ts'
import { loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { loadOnBackend } from '../support/load-on-backend.ts'

let tiling: Model
let single: Model
beforeAll(async () => {
  tiling = await loadModel(goldenPath('smolvlm'), { precision: 'f32' })
  single = await loadModel(goldenPath('llava'), { precision: 'f32' })
})
afterAll(() => Promise.all([tiling.dispose(), single.dispose()]))

async function plain(width: number, height: number): Promise<Uint8Array> {
  return sharp({ create: { width, height, channels: 3, background: '#08f' } })
    .png()
    .toBuffer()
}

describe('imageTokens', () => {
  it.each([
    // budget, tiles, tokens; a frame of this model has 4 tokens
    [20, 4, 20],
    [19, 3, 16],
    [15, 2, 12],
    [11, 1, 4],
    [4, 1, 4],
    [3, 1, 1],
    [1, 1, 1],
  ])('of %i: %i tiles, %i tokens', async (imageTokens, tiles, tokens) => {
    const chat = tiling.chat()
    const message = { text: 'Hi', images: [await plain(400, 100)] }
    const { images, usage } = await ask(chat, message, { detail: 'high', maxTokens: 2, imageTokens })
    expect(images).toMatchObject([{ tiles, tokens, detail: tiles > 1 ? 'high' : 'low' }])
    expect(usage.imageTokens).toBe(tokens)
    chat.dispose()
  })

  it('holds for pictures of every shape', async () => {
    for (const [width, height] of [
      [300, 10],
      [10, 300],
      [128, 128],
      [33, 31],
      [1, 1],
    ] as const) {
      for (const imageTokens of [1, 5, 30, 60]) {
        const chat = tiling.chat()
        const message = { text: 'Hi', images: [await plain(width, height)] }
        const { usage } = await ask(chat, message, { detail: 'high', maxTokens: 1, imageTokens })
        expect(usage.imageTokens).toBeLessThanOrEqual(imageTokens)
        chat.dispose()
      }
    }
  })

  it('changes nothing where there is enough', async () => {
    const picture = goldenPath('smolvlm/picture-0.png')
    const texts = []
    for (const imageTokens of [undefined, 1000]) {
      const chat = tiling.chat()
      const options = { detail: 'high', maxTokens: 8, ...(imageTokens && { imageTokens }) } as const
      texts.push((await ask(chat, { text: 'What do you see?', images: [picture] }, options)).tokenIds)
      chat.dispose()
    }
    expect(texts[1]).toEqual(texts[0])
  })

  it('of the model bounds every message, and the message can only ask for less', async () => {
    const model = await loadModel(goldenPath('smolvlm'), { precision: 'f32', imageTokens: 12 })
    const message = { text: 'Hi', images: [await plain(400, 100)] }
    const tokens = async (options: object) => {
      const chat = model.chat()
      return (await ask(chat, message, { detail: 'high', maxTokens: 1, ...options })).usage.imageTokens
    }
    expect([await tokens({}), await tokens({ imageTokens: 100 }), await tokens({ imageTokens: 4 })]).toEqual([
      12, 12, 4,
    ])
    const earlier = model.chat({ messages: [{ role: 'user', ...message, detail: 'high' }] })
    expect((await ask(earlier, 'Go on', { maxTokens: 1 })).usage.imageTokens).toBe(12)
    await model.dispose()
  })

  it('counts several pictures each', async () => {
    const chat = tiling.chat()
    const images = [await plain(400, 100), await plain(100, 400), await plain(30, 30)]
    const finished = await ask(
      chat,
      { text: 'Hi', images },
      { detail: 'high', maxTokens: 1, imageTokens: 13 },
    )
    expect(finished.images.map(({ tokens }) => tokens)).toEqual([12, 12, 4])
    expect(finished.usage.imageTokens).toBe(28)
    chat.dispose()
  })

  it('must be a whole number of at least 1', async () => {
    for (const imageTokens of [0, -1, 1.5, Number.NaN]) {
      await expect(ask(tiling.chat(), 'Hi', { imageTokens })).rejects.toMatchObject({
        code: 'option/invalid',
      })
      await expect(loadModel(goldenPath('smolvlm'), { imageTokens })).rejects.toMatchObject({
        code: 'option/invalid',
      })
    }
  })
})

describe('a model of one frame', () => {
  it('pools its features: each is the mean of a square', async () => {
    const backend = createReferenceBackend()
    const loaded = await loadOnBackend(backend, goldenPath('llava'), { precision: 'f32' })
    const { dim } = loaded.model.config.decoder
    const features = async (imageTokens: number | undefined) => {
      const look = { detail: 'auto', imageTokens } as const
      const prepared = await preparePicture(loaded, goldenPath('llava/picture-0.png'), look)
      const steps = encodePicture(loaded, prepared)
      for (;;) {
        const { done, value } = await steps.next()
        if (!done) continue
        const bytes = await backend.read(value.features, value.tokens * dim * 4)
        return { tokens: value.tokens, rows: new Float32Array(bytes.buffer) }
      }
    }
    const whole = await features(undefined)
    const side = Math.sqrt(whole.tokens)
    const pooled = await features(whole.tokens - 1)
    const pool = side / Math.sqrt(pooled.tokens)
    expect([side % pool, pooled.tokens]).toEqual([0, (side / pool) ** 2])
    const expected = Array.from(pooled.rows, (_, index) => {
      const [place, column] = [Math.floor(index / dim), index % dim]
      const [top, left] = [Math.floor(place / (side / pool)) * pool, (place % (side / pool)) * pool]
      let sum = 0
      for (let y = top; y < top + pool; y++)
        for (let x = left; x < left + pool; x++)
          sum = Math.fround(sum + whole.rows[(y * side + x) * dim + column]!)
      return Math.fround(sum / pool ** 2)
    })
    expect([...pooled.rows]).toEqual(expected)
    await backend.dispose()
  })

  it('answers about pooled pictures, and the pictures of other messages keep their size', async () => {
    const chat = single.chat()
    const picture = goldenPath('llava/picture-0.png')
    const first = await ask(chat, { text: 'Hi', images: [picture] }, { maxTokens: 3, imageTokens: 1 })
    expect(first.usage.imageTokens).toBe(1)
    const second = await ask(chat, { text: 'Hi', images: [picture] }, { maxTokens: 3 })
    expect(second.usage.imageTokens).toBe(1 + single.info.imageTokensPerTile)
    chat.dispose()
  })
})
