/** Microphone and player of the browser, in Chromium with a device that plays a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeWav } from '../../src/audio/encode-wav.ts'
import { BROWSER_TIMEOUT_MS } from './browser-fixture.ts'
import { findChromium } from './find-chromium.ts'
import { type PageServer, startPageServer } from './page-server.ts'

const executablePath = findChromium()
const HERTZ = 1000
const MODULES = '/plain/dist/host/browser/speech'

describe.skipIf(executablePath === undefined)('sound in a page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onsight-sound-'))
  let browser: Browser
  let server: PageServer
  let page: Page

  beforeAll(async () => {
    const samples = Float32Array.from(
      { length: 48_000 * 5 },
      (_, at) => 0.5 * Math.sin((2 * Math.PI * HERTZ * at) / 48_000),
    )
    const file = join(folder, 'tone.wav')
    writeFileSync(file, encodeWav({ samples, sampleRate: 48_000 }))
    const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
    server = await startPageServer({
      dist: inRepository('dist'),
      fixture: inRepository('test/browser/fixture'),
    })
    browser = await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: [
        '--no-sandbox',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        `--use-file-for-fake-audio-capture=${file}`,
        '--autoplay-policy=no-user-gesture-required',
      ],
      timeout: BROWSER_TIMEOUT_MS,
    })
    page = await browser.newPage()
    await page.goto(`${server.origin}/plain/fixture/index.html`)
  }, BROWSER_TIMEOUT_MS)

  afterAll(async () => {
    await browser?.close()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the microphone gives frames of 16 kHz, and is closed when nobody listens', async () => {
    const heard = (await page.evaluate(`(async () => {
      const tracks = []
      const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
      navigator.mediaDevices.getUserMedia = async (wanted) => {
        // What the browser does to voices would change the tone.
        const stream = await open({ audio: { ...wanted.audio, echoCancellation: false, noiseSuppression: false, autoGainControl: false } })
        tracks.push(...stream.getTracks())
        return stream
      }
      const { createMicrophone } = await import('${MODULES}/microphone.js')
      const controller = new AbortController()
      const lengths = []
      let crossings = 0
      let last = 0
      for await (const frame of createMicrophone().open(controller.signal)) {
        lengths.push(frame.length)
        // The first moments are silent.
        if (lengths.length > 20) for (const sample of frame) {
          if (last < 0 && sample >= 0) crossings++
          last = sample
        }
        if (lengths.length === 52) controller.abort()
      }
      return { lengths, crossings, states: tracks.map((track) => track.readyState) }
    })()`)) as { lengths: number[]; crossings: number; states: string[] }
    expect(heard.lengths).toEqual(new Array(52).fill(512))
    // 32 frames are 1.024 s.
    expect(heard.crossings).toBeGreaterThan(HERTZ * 1.024 * 0.97)
    expect(heard.crossings).toBeLessThan(HERTZ * 1.024 * 1.03)
    expect(heard.states).toEqual(['ended'])
  })

  test('clips are played one after the other, and end when they are told to', async () => {
    const log = (await page.evaluate(`(async () => {
      const { createAudioPlayer } = await import('${MODULES}/audio-player.js')
      const player = createAudioPlayer()
      const log = []
      const clip = (ms) => ({ samples: new Float32Array(ms * 22.05).fill(0.25), sampleRate: 22050 })
      const say = (name, ms) => player.play(clip(ms), { onStarted: () => log.push('start ' + name) }).then(() => log.push('end ' + name))
      const both = Promise.all([say('one', 200), say('two', 200)])
      await new Promise((resolve) => setTimeout(resolve, 150))
      log.push('level ' + player.level().toFixed(2))
      await both
      const controller = new AbortController()
      const long = player.play(clip(60000), { signal: controller.signal }).catch((error) => log.push(error.name))
      controller.abort()
      await long
      log.push('level ' + player.level().toFixed(2))
      await player.dispose()
      return log
    })()`)) as string[]
    expect(log.filter((line) => !line.startsWith('level')).sort()).toEqual([
      'AbortError',
      'end one',
      'end two',
      'start one',
      'start two',
    ])
    expect(log.indexOf('end one')).toBeLessThan(log.indexOf('end two'))
    expect(log.at(-1)).toBe('level 0.00')
    expect(log).toContain('level 0.25')
  })
})
