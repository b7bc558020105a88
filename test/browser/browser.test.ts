/** The engine in a real browser: a page built with Vite, served with and without the headers that allow threads. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type {
  AnswerFinished,
  Chat,
  ChatEvent,
  LoadModelOptions,
  ModelInfo,
  UserMessage,
} from '../../src/engine/types.ts'
import { readPicture, sha256, vectors } from '../golden/image/vectors.ts'
import { type GoldenRun, goldenPath, readGoldenRuns } from '../support/golden-model.ts'
import { expectStages } from '../support/golden-stages.ts'
import { readTinyCases, type TinyCase } from '../support/tiny-cases.ts'
import { BROWSER_TIMEOUT_MS, BrowserFixture } from './browser-fixture.ts'
import { findChromium } from './find-chromium.ts'
import './page-types.ts'

const chromium = findChromium()
const APP = 'app/index.html'
const MODELS = ['smolvlm', 'smolvlm-one-tile', 'llava', 'llama3', 'qwen2', 'qwen3'] as const
/** With one turn and with several. */
const CASES = readTinyCases().slice(0, 4)

let fixture: BrowserFixture
let page: Page
let errors: string[]

async function open(rule: string, address = APP): Promise<void> {
  errors = []
  page = await fixture.open(`/${rule}/${address}`, errors)
}

/** Loads a model into the page, from an address relative to it. */
function load(reference: string, options: Omit<LoadModelOptions, 'signal'> = {}): Promise<ModelInfo> {
  return page.evaluate(
    async ([reference, options]) => {
      globalThis.model = await onsight.loadModel(reference, options)
      return model.info
    },
    [reference, options] as const,
  )
}

async function expectAnswers(cases: readonly TinyCase[]): Promise<void> {
  for (const { id, picture, turns } of cases) {
    const answers = await page.evaluate(
      async ([picture, questions]) => {
        const chat = model.chat()
        const answers: AnswerFinished[] = []
        for (const [index, text] of questions.entries()) {
          const images = index === 0 ? [new Blob([picture])] : []
          for await (const event of chat.send({ text, images }))
            if (event.type === 'answer-finished') answers.push(event)
        }
        chat.dispose()
        return answers
      },
      [new Uint8Array(readFileSync(picture)), turns.map(({ ask }) => ask)] as const,
    )
    expect({ id, answers: answers.map(({ text, tokenIds }) => ({ text, tokenIds })) }).toEqual({
      id,
      answers: turns.map(({ says, tokenIds }) => ({ text: says, tokenIds })),
    })
  }
}

async function expectTrace(run: GoldenRun): Promise<void> {
  const picture = run.picture === undefined ? undefined : new Uint8Array(readFileSync(run.picture))
  const tensors = await page.evaluate(
    ([prompt, image]) => model.trace(image ? { ask: prompt, image } : { prompt }),
    [run.prompt, picture] as const,
  )
  expectStages(new Map(tensors.map((tensor) => [tensor.name, tensor])), run)
}

/** What a rejected promise of the page says; `undefined` when it is kept. */
type Refusal = { name: string; code?: string; message: string } | undefined

const title = chromium
  ? 'in Chromium'
  : 'in Chromium (left out: there is none here; CHROME_PATH may name one)'

describe.skipIf(chromium === undefined)(title, { timeout: BROWSER_TIMEOUT_MS }, () => {
  beforeAll(async () => {
    fixture = await BrowserFixture.start(chromium as string)
  }, BROWSER_TIMEOUT_MS)
  afterEach(() => page.close())
  afterAll(() => fixture.close())

  describe.each([
    ['isolated', true, 2, MODELS],
    // One thread with a memory of its own, whatever is asked for; the kernels are the same.
    ['plain', false, 1, ['smolvlm', 'qwen2']],
  ] as const)('a page under the rule "%s"', (rule, isIsolated, threads, models) => {
    it('answers what the reference answers', async () => {
      await open(rule)
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(isIsolated)
      const info = await load('../models/tiny', { threads: 2, precision: 'f32' })
      expect(info).toMatchObject({ threads, backend: 'wasm-relaxed', takesImages: true, warnings: [] })
      await expectAnswers(CASES)
      expect(errors.filter((text) => !text.includes('404'))).toEqual([])
    })

    it('goes on with a conversation that another page saved', async () => {
      await open(rule)
      const { picture, turns } = CASES.find((one) => one.turns.length > 1) as TinyCase
      const save = async ([picture, text, next]: readonly [Uint8Array<ArrayBuffer>, string, string]) => {
        const chat = model.chat()
        const answer = async (one: Chat, message: UserMessage): Promise<readonly number[]> => {
          let ids: readonly number[] = []
          for await (const event of one.send(message))
            if (event.type === 'answer-finished') ids = event.tokenIds
          return ids
        }
        await answer(chat, { text, images: [new Blob([picture])] })
        const folder = await navigator.storage.getDirectory()
        await chat.save(await folder.getFileHandle('chat.snapshot', { create: true }))
        const blob = await chat.save()
        const expected = await answer(chat, { text: next })
        const fromBlob = await answer(await model.restore(blob), { text: next })
        return { expected, fromBlob }
      }
      const restore = async (next: string) => {
        const folder = await navigator.storage.getDirectory()
        const from = await folder.getFileHandle('chat.snapshot')
        const chat = await model.restore(from)
        let answered: AnswerFinished | undefined
        for await (const event of chat.send({ text: next }))
          if (event.type === 'answer-finished') answered = event
        const { turns, missingImages } = await onsight.readSnapshotText(from)
        return {
          tokenIds: answered?.tokenIds,
          usage: answered?.usage,
          said: turns.map(({ text }) => text),
          missingImages,
        }
      }
      const options = { threads: 2, precision: 'f32' } as const
      await load('../models/tiny', options)
      const [first, second] = turns
      const bytes = new Uint8Array(readFileSync(picture))
      const { expected, fromBlob } = await page.evaluate(save, [bytes, first!.ask, second!.ask] as const)
      expect([expected, fromBlob]).toEqual([second!.tokenIds, second!.tokenIds])
      await page.close()
      await open(rule)
      await load('../models/tiny', options)
      const found = await page.evaluate(restore, second!.ask)
      expect(found).toMatchObject({ tokenIds: expected, said: [first!.ask, first!.says], missingImages: 1 })
      expect(found.usage!.cachedTokens).toBeGreaterThan(64)
    })

    it.each(models)('computes every stage of %s as the reference does', async (name) => {
      await open(rule)
      await load(`../golden/${name}`, { threads: 2, precision: 'f32' })
      for (const run of readGoldenRuns(name)) await expectTrace(run)
    })
  })

  it('answers under a strict content security policy', async () => {
    await open('strict')
    expect(await load('../models/tiny', { threads: 2, precision: 'f32' })).toMatchObject({ threads: 2 })
    await expectAnswers(CASES.slice(0, 1))
    expect(errors.filter((text) => !text.includes('404'))).toEqual([])
  })

  it('answers without a bundler', async () => {
    await open('isolated', 'unbundled/index.html')
    expect(await load('../models/tiny', { threads: 2, precision: 'f32' })).toMatchObject({ threads: 2 })
    await expectAnswers(CASES.slice(0, 1))
  })

  it('answers inside a worker', async () => {
    await open('isolated')
    const { picture, turns } = CASES[1]!
    const events = await page.evaluate(
      async ([picture, text]) => {
        const worker = onsight.startModelWorker()
        const events: ChatEvent[] = []
        worker.postMessage({
          model: new URL('../models/tiny', location.href).href,
          options: { threads: 2, precision: 'f32' },
          message: { text, images: [picture] },
        })
        await new Promise<void>((resolve, reject) => {
          worker.onerror = ({ message }) => reject(new Error(message))
          worker.onmessage = ({ data }) => {
            events.push(data)
            if (data.type === 'answer-finished') resolve()
          }
        })
        worker.terminate()
        return events
      },
      [new Uint8Array(readFileSync(picture)), turns[0]!.ask] as const,
    )
    expect(events.at(-1)).toMatchObject({ text: turns[0]!.says, finishReason: 'stop' })
    expect(new Set(events.map(({ type }) => type))).toContain('text-delta')
  })

  describe('models', () => {
    it('from a server that knows no ranges', async () => {
      await open('rangeless')
      const info = await load('../models/tiny', { precision: 'f32' })
      expect(info.fileBytes).toBeGreaterThan(1_000_000)
      await expectAnswers(CASES.slice(1, 2))
    })

    it('from files that a person picks', async () => {
      await open('isolated')
      const files = ['odd-smolvlm-f16.gguf', 'mmproj-odd-smolvlm-f16.gguf']
      await page.setInputFiles(
        'input',
        files.map((name) => goldenPath(`gguf/${name}`)),
      )
      const info = await page.evaluate(async () => {
        const { files } = document.querySelector('input') as HTMLInputElement
        globalThis.model = await onsight.loadModel(files as FileList)
        return model.info
      })
      expect(info).toMatchObject({ name: 'odd-smolvlm-f16.gguf', takesImages: true, warnings: [] })
    })

    it('from a .gguf address and a directory handle, with the projector named', async () => {
      await open('isolated')
      const projector = 'mmproj-odd-smolvlm-f16.gguf'
      expect(await load('../golden/gguf/odd-smolvlm-f16.gguf', { projector })).toMatchObject({
        name: `${fixture.origin}/isolated/golden/gguf/odd-smolvlm-f16.gguf`,
        takesImages: true,
      })
      const info = await page.evaluate(async (projector) => {
        const root = await navigator.storage.getDirectory()
        const folder = await root.getDirectoryHandle('SmolVLM', { create: true })
        for (const name of ['odd-smolvlm-f16.gguf', projector]) {
          const file = await folder.getFileHandle(name, { create: true })
          const stream = await file.createWritable()
          const response = await fetch(`../golden/gguf/${name}`)
          await response.body?.pipeTo(stream)
        }
        globalThis.model = await onsight.loadModel(folder, { projector })
        return model.info
      }, projector)
      expect(info).toMatchObject({ name: 'odd-smolvlm-f16.gguf', takesImages: true })
    })

    it.each([
      ['../models/nowhere', 'file/no-model'],
      ['../golden/gguf/nowhere.gguf', 'file/not-found'],
      ['../golden/image', 'file/no-model'],
      ['../models/demo.png', 'file/no-model'],
    ])('%s is refused', async (reference, code) => {
      await open('isolated')
      expect(await refusal(page, reference)).toMatchObject({ name: 'EngineError', code })
    })

    it('where workers may not run, the message says what to allow', async () => {
      await open('workerless')
      expect(await refusal(page, '../models/tiny')).toMatchObject({
        code: 'backend/worker-failed',
        message: expect.stringContaining('allowed by worker-src'),
      })
    })

    it('stop loading when the signal is aborted', async () => {
      await open('isolated')
      const { name } = (await page.evaluate(async () => {
        const controller = new AbortController()
        const loading = onsight.loadModel('../golden/smolvlm', {
          signal: controller.signal,
          onProgress: () => controller.abort(),
        })
        return loading.then(
          () => undefined,
          ({ name, message }: Error) => ({ name, message }),
        )
      })) as NonNullable<Refusal>
      expect(name).toBe('AbortError')
    })
  })

  it.each(['isolated', 'plain'])(
    'a conversation survives what goes wrong, under the rule "%s"',
    async (rule) => {
      await open(rule)
      await load('../models/tiny')
      const outcomes = await page.evaluate(
        async (broken) => {
          const outcomes: string[] = []
          const chat = model.chat()
          const send = async (
            images: (Uint8Array | string)[],
            controller?: AbortController,
          ): Promise<void> => {
            const options = controller ? { ignoreEos: true, maxTokens: 400, signal: controller.signal } : {}
            try {
              for await (const event of chat.send({ text: 'What is this?', images }, options)) {
                if (event.type === 'text-delta') controller?.abort()
                if (event.type !== 'answer-finished') continue
                outcomes.push(`${event.finishReason}, ${event.usage.imageTokens} of pictures`)
              }
            } catch (error) {
              outcomes.push(onsight.EngineError.isInstance(error) ? error.code : String(error))
            }
          }
          await send([], new AbortController())
          await send([broken])
          await send([new TextEncoder().encode('text')])
          await send(['https://elsewhere.example/a.png'])
          await send([])
          const { allocatedBytes } = model.info
          await model.dispose()
          await send([])
          outcomes.push(allocatedBytes > 0 ? `${model.info.allocatedBytes} bytes in use` : 'never any in use')
          return outcomes
        },
        cut(readPicture('rgb.png'), 0.5),
      )
      expect(outcomes).toEqual([
        'aborted, 0 of pictures',
        'image/damaged',
        'image/unsupported-format',
        'image/remote',
        'stop, 0 of pictures',
        'generation/disposed',
        '0 bytes in use',
      ])
    },
  )

  it('decodes pictures as Pillow does, byte for byte', async () => {
    await open('plain')
    const names = Object.keys(vectors.pictures).filter((name) => !name.endsWith('.tiff'))
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) {
      const { width, height, orientation, data } = (await decode(readPicture(name))) as DecodedPixels
      const { sha256: hash, ...size } = vectors.pictures[name]!
      expect({ name, width, height, orientation }).toEqual({ name, ...size, orientation: 1 })
      expect([name, sha256([data])]).toEqual([name, hash])
    }
  })

  it('decodes AVIF apart from the rounding of its colours, and BMP', async () => {
    await open('plain')
    const avif = (await decode(readPicture('rgb.avif'))) as DecodedPixels
    const png = (await decode(readPicture('rgb.png'))) as DecodedPixels
    expect([avif.width, avif.height]).toEqual([37, 23])
    const differences = avif.data.map((sample, index) => Math.abs(sample - (png.data[index] as number)))
    expect(differences.reduce((sum, difference) => sum + difference, 0) / avif.data.length).toBeLessThan(8)
    const bmp = (await decode(
      bitmap([
        [255, 0, 0],
        [1, 2, 3],
      ]),
    )) as DecodedPixels
    expect([bmp.width, bmp.height, ...bmp.data]).toEqual([2, 1, 255, 0, 0, 1, 2, 3])
  })

  it('turns pictures upright', async () => {
    await open('plain')
    const names = [1, 2, 3, 4, 5, 6, 7, 8].map((orientation) => `orientation-${orientation}.jpg`)
    for (const name of [...names, 'orientation-6.png', 'orientation-6.webp']) {
      const { width, height, orientation, data } = (await decode(readPicture(name))) as DecodedPixels
      expect([name, width, height, orientation]).toEqual([name, 48, 32, Number(/\d/.exec(name))])
      // JPEG keeps these colours to within 2.
      const corners = [0, 47, 31 * 48, 31 * 48 + 47].map((at) =>
        [...data.subarray(at * 3, at * 3 + 3)].map((sample) =>
          sample > 252 ? 255 : sample < 3 ? 0 : sample,
        ),
      )
      expect([name, corners]).toEqual([
        name,
        [
          [255, 0, 0],
          [0, 255, 0],
          [0, 0, 255],
          [255, 255, 255],
        ],
      ])
    }
  })

  it.each([
    [4100, 20],
    [20, 4100],
  ])('reads a picture of %d x %d pixels in pieces', async (width, height) => {
    await open('plain')
    const file = await page.evaluate(
      async ([width, height]) => {
        const canvas = new OffscreenCanvas(width, height)
        const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
        for (let x = 0; x < width; x++) {
          context.fillStyle = `rgb(${x % 256}, ${x >> 8}, 0)`
          context.fillRect(x, 0, 1, height)
        }
        for (let y = 0; y < height; y += 2) {
          context.fillStyle = `rgb(${y % 256}, ${y >> 8}, 255)`
          context.fillRect(0, y, width, 1)
        }
        return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer())
      },
      [width, height] as const,
    )
    const decoded = (await decode(file)) as DecodedPixels
    expect([decoded.width, decoded.height]).toEqual([width, height])
    const expected = Buffer.alloc(width * height * 3)
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const [place, blue] = y % 2 === 0 ? [y, 255] : [x, 0]
        expected.set([place % 256, place >> 8, blue], (y * width + x) * 3)
      }
    }
    expect(Buffer.compare(expected, decoded.data)).toBe(0)
  })

  it('refuses damaged and huge pictures', async () => {
    await open('plain')
    for (const name of [
      'rgb-420.jpg',
      'progressive.jpg',
      'rgb.png',
      'rgba.webp',
      'lossy.webp',
      'rgb.gif',
      'rgb.avif',
    ])
      expect([name, await decode(cut(readPicture(name), 0.9))]).toMatchObject([
        name,
        { code: 'image/damaged' },
      ])
    expect(await decode(cut(readPicture('rgb-420.jpg'), 0.05))).toMatchObject({ code: 'image/damaged' })
    expect(await decode(readPicture('rgb.tiff'))).toMatchObject({ code: 'image/unsupported-format' })
    const huge = readPicture('rgb.png')
    new DataView(huge.buffer).setUint32(16, 20_000)
    new DataView(huge.buffer).setUint32(20, 20_000)
    expect(await decode(huge)).toMatchObject({
      code: 'image/too-large',
      message: 'a picture: the picture has 20000 x 20000 = 400000000 pixels; at most 134217728 are decoded.',
    })
  })

  // The last test, since it looks back at all others.
  it('asked nobody but its own origin', async () => {
    await open('isolated')
    await load('../models/tiny')
    expect(fixture.requests).toContain(`${fixture.origin}/isolated/models/tiny/model.safetensors`)
    const foreign = fixture.requests.filter(
      (url) => !/^(data|blob):/.test(url) && new URL(url).origin !== fixture.origin,
    )
    expect(foreign).toEqual([])
  })
})

/** A BMP file of one row of two pixels. */
function bitmap(pixels: readonly (readonly number[])[]): Uint8Array {
  const bytes = Buffer.alloc(54 + 8)
  bytes.write('BM')
  bytes.writeUInt32LE(bytes.length, 2)
  bytes.writeUInt32LE(54, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(pixels.length, 18)
  bytes.writeInt32LE(1, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  for (const [index, [red = 0, green = 0, blue = 0]] of pixels.entries())
    bytes.set([blue, green, red], 54 + index * 3)
  return new Uint8Array(bytes)
}

const cut = (bytes: Uint8Array, share: number): Uint8Array => bytes.slice(0, bytes.length * share)

function refusal(page: Page, reference: string): Promise<Refusal> {
  return page.evaluate(async (reference) => {
    try {
      await onsight.loadModel(reference)
      return undefined
    } catch (error) {
      const { name, message } = error as Error
      return { name, message, ...(onsight.EngineError.isInstance(error) && { code: error.code }) }
    }
  }, reference)
}

interface DecodedPixels {
  readonly width: number
  readonly height: number
  readonly orientation: number
  readonly data: Uint8Array
}

/** By the decoder itself, from the built package; what it throws comes back. */
async function decode(bytes: Uint8Array): Promise<DecodedPixels | Refusal> {
  // As text, since tests are compiled and their imports rewritten.
  const decoder = await page.evaluateHandle(
    `import('/plain/dist/host/browser/image-decoder.js').then((module) => module.createImageDecoder())`,
  )
  return decoder.evaluate(async (decoder, bytes) => {
    try {
      const { image, orientation } = await (
        decoder as import('../../src/image/decoder.ts').ImageDecoder
      ).decode(bytes, 'a picture')
      return { width: image.width, height: image.height, orientation, data: image.data as Uint8Array }
    } catch (error) {
      const { name, message, code } = error as Error & { code?: string }
      return { name, message, ...(code !== undefined && { code }) }
    }
  }, bytes)
}
