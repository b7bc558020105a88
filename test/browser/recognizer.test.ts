/** A recogniser in Chromium hears what it hears in Node. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WavDecoder } from '../../src/audio/wav-decoder.ts'
import { loadRecognizer } from '../../src/entry/speech.node.ts'
import type { TranscriptFinished } from '../../src/speech/types.ts'
import { goldenPath } from '../support/golden-model.ts'
import { BROWSER_TIMEOUT_MS, BrowserFixture } from './browser-fixture.ts'
import { findChromium } from './find-chromium.ts'

const executablePath = findChromium()
const CLIP = 'speech/en1.wav'

/** The model is random and its window two seconds: its words mean nothing, but they are always the same. */
async function transcribeInNode(): Promise<TranscriptFinished | undefined> {
  const recognizer = await loadRecognizer(goldenPath('whisper/multilingual'))
  const samples = new WavDecoder(CLIP).push(readFileSync(goldenPath(CLIP)))
  let finished: TranscriptFinished | undefined
  for await (const event of recognizer.transcribe({ samples, sampleRate: 16_000 }, { timestamps: true }))
    if (event.type === 'transcript-finished') finished = event
  await recognizer.dispose()
  return finished
}

describe.skipIf(executablePath === undefined)('recogniser in a page', () => {
  let fixture: BrowserFixture
  let expected: TranscriptFinished | undefined

  beforeAll(async () => {
    fixture = await BrowserFixture.start(executablePath as string)
    expected = await transcribeInNode()
  }, BROWSER_TIMEOUT_MS)
  afterAll(() => fixture?.close())

  test.each(['isolated', 'plain'])(
    'gives the same segments as Node (%s)',
    async (rule) => {
      const page = await fixture.open(`/${rule}/unbundled/index.html`)
      const heard = await page.evaluate(`(async () => {
        const { loadRecognizer, readAudioFile } = await import('../dist/entry/speech.browser.js')
        const address = (path) => new URL('../golden/' + path, location.href).href
        const recognizer = await loadRecognizer(address('whisper/multilingual'))
        const file = await (await fetch(address('${CLIP}'))).blob()
        let finished
        for await (const event of recognizer.transcribe(readAudioFile(file), { timestamps: true }))
          if (event.type === 'transcript-finished') finished = event
        await recognizer.dispose()
        return finished
      })()`)
      await page.close()
      const { timings: _, languageProbability, ...rest } = expected as TranscriptFinished
      expect(heard).toMatchObject(rest)
      expect((heard as TranscriptFinished).languageProbability).toBeCloseTo(languageProbability, 4)
    },
    BROWSER_TIMEOUT_MS,
  )
})
