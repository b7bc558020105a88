/**
 * Real-time factor of a Whisper model in Chromium: recordings transcribed one after the other. Build first; needs
 * Node 22.18 or later, which runs TypeScript.
 *
 *     node bench/whisper-browser.ts MODEL_FOLDER FOLDER_OF_WAVS [--threads 2] [--precision auto] [--count 12] [--language en]
 */

import { readdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { findChromium } from '../test/browser/find-chromium.ts'
import { startPageServer } from '../test/browser/page-server.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    precision: { type: 'string', default: 'auto' },
    count: { type: 'string', default: '12' },
    language: { type: 'string', default: 'en' },
  },
})
const [model = '', sounds = ''] = positionals
const names = readdirSync(sounds)
  .filter((name) => name.startsWith(options.language) && name.endsWith('.wav'))
  .sort()
  .slice(0, Number(options.count))

interface Heard {
  readonly text: string
  readonly duration: number
  readonly timings: { readonly totalMs: number; readonly encodeMs: number; readonly decodeMs: number }
}

const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const executablePath = findChromium()
if (executablePath === undefined) throw new Error('There is no Chromium here; name one with CHROME_PATH.')
const server = await startPageServer({
  unbundled: inRepository('test/browser/unbundled'),
  dist: inRepository('dist'),
  packages: inRepository('node_modules/@huggingface'),
  model: resolve(model),
  sounds: resolve(sounds),
})
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(600_000)
  await page.goto(`${server.origin}/isolated/unbundled/index.html`)
  const settings = { precision: options.precision, threads: Number(options.threads) }
  const heard = (await page.evaluate(`(async () => {
    const { loadRecognizer, readAudioFile } = await import('../dist/entry/speech.browser.js')
    const address = (path) => new URL('../' + path, location.href).href
    const recognizer = await loadRecognizer(address('model'), ${JSON.stringify(settings)})
    const list = []
    for (const name of ${JSON.stringify(names)}) {
      const file = await (await fetch(address('sounds/' + name))).blob()
      for await (const event of recognizer.transcribe(readAudioFile(file), { language: '${options.language}' }))
        if (event.type === 'transcript-finished') list.push(event)
    }
    await recognizer.dispose()
    return list
  })()`)) as Heard[]
  for (const { text, duration, timings } of heard)
    console.log(
      `${duration.toFixed(1)} s: encoder ${timings.encodeMs.toFixed(0)} ms, decoder ${timings.decodeMs.toFixed(0)} ms  ${text}`,
    )
  const sum = (of: (one: Heard) => number): number => heard.reduce((total, one) => total + of(one), 0)
  const factor = sum(({ timings }) => timings.totalMs) / 1000 / sum(({ duration }) => duration)
  console.log(`${cpus()[0]?.model}; Chromium ${browser.version()}; real-time factor ${factor.toFixed(3)}`)
} finally {
  await browser.close()
  await server.close()
}
