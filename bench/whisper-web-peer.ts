/**
 * Whisper's encoder in Chromium: Onsight beside onnxruntime-web, two threads each, turns taken, best of several. Build
 * first; the peer's graphs come from bench/peers/make_whisper_onnx.py. Needs Node 22.18 or later, which runs TypeScript.
 *
 *     node bench/whisper-web-peer.ts MODEL_FOLDER ONNX_FOLDER ONNXRUNTIME_WEB_PACKAGE/dist
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { findChromium } from '../test/browser/find-chromium.ts'
import { startPageServer } from '../test/browser/page-server.ts'

const ROUNDS = 3

const [model = '', onnx = '', runtime = ''] = process.argv.slice(2)
const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const executablePath = findChromium()
if (executablePath === undefined) throw new Error('There is no Chromium here; name one with CHROME_PATH.')
const server = await startPageServer({
  unbundled: inRepository('test/browser/unbundled'),
  dist: inRepository('dist'),
  packages: inRepository('node_modules/@huggingface'),
  model: resolve(model),
  onnx: resolve(onnx),
  runtime: resolve(runtime),
})
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(900_000)
  await page.goto(`${server.origin}/isolated/unbundled/index.html`)
  const best = (await page.evaluate(`(async () => {
    const address = (path) => new URL('../' + path, location.href).href
    const ort = await import(address('runtime/ort.wasm.bundle.min.mjs'))
    ort.env.wasm.numThreads = 2
    ort.env.wasm.wasmPaths = address('runtime/')
    const modules = ['backend/wasm/wasm-backend', 'host/browser/worker-host', 'host/browser/file-host',
      'speech/open-speech-model', 'speech/recognition/load-whisper-recognizer']
    const [{ createWasmBackend }, { createBrowserWorkerHost }, { createBrowserFileHost }, { openSpeechModel },
      { loadWhisperParts }] = await Promise.all(modules.map((name) => import(address('dist/' + name + '.js'))))
    const { name, host } = createBrowserFileHost(address('model'))
    const backend = await createWasmBackend(createBrowserWorkerHost(), { threads: 2 })
    const opened = await openSpeechModel(host, name)
    const { parts } = await loadWhisperParts(opened, backend, { precision: 'auto' })
    const { model, spectrograms } = parts
    const noise = Float32Array.from({ length: 480000 }, () => (Math.random() - 0.5) * 0.1)
    const whole = spectrograms.make(noise, 1500)
    const short = spectrograms.make(noise.subarray(0, 80000), 250 + 128)
    const { melBands } = model.config
    const mel = new ort.Tensor('float32', new Float32Array(melBands * 3000).fill(0.1), [1, melBands, 3000])
    const best = {}
    const measure = async (what, work) => {
      const start = performance.now()
      await work()
      best[what] = Math.min(best[what] ?? Infinity, performance.now() - start)
    }
    for (const file of ['encoder-int8.onnx', 'encoder.onnx']) {
      const session = await ort.InferenceSession.create(address('onnx/' + file), { executionProviders: ['wasm'] })
      for (let round = 0; round < ${ROUNDS}; round++) {
        await measure('onnxruntime-web ' + file, () => session.run({ mel }))
        await measure('onsight, 30 s', () => model.encode(whole))
        await measure('onsight, 5 s', () => model.encode(short))
      }
      await session.release()
    }
    return best
  })()`)) as Record<string, number>
  console.log(`Chromium ${browser.version()}`)
  for (const [what, ms] of Object.entries(best))
    console.log(`${what.padEnd(36)}${ms.toFixed(0).padStart(8)} ms`)
} finally {
  await browser.close()
  await server.close()
}
