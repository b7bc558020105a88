/**
 * A text decoder of SmolVLM-500M's shape in Chromium, two threads each, turns taken, best of several rounds: Onsight,
 * onnxruntime-web, and llama.cpp as wllama compiles it. Build first; the peers' models come from
 * bench/peers/make_peer_models.py. Needs Node 22.18 or later, which runs TypeScript.
 *
 *     npm install --no-save --prefix FOLDER @wllama/wllama@3.13.0 onnxruntime-web@1.30.0
 *     node bench/web-peers.ts FOLDER/node_modules [--rounds 3] [--engine onsight|onnxruntime-web|wllama]
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { findChromium } from '../test/browser/find-chromium.ts'
import { startPageServer } from '../test/browser/page-server.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, engine: { type: 'string' } },
})

/** Tokens per second by name; every engine decodes 32 tokens greedily. */
type Speeds = Readonly<Record<string, number>>

const ONSIGHT = `(async () => {
  const [{ measureModel }, { createBrowserWorkerHost }, { createSnapshotFiles }] = await Promise.all(
    ['engine/bench.js', 'host/browser/worker-host.js', 'host/browser/snapshot-files.js'].map((path) => import('../dist/' + path)))
  const { numbers } = await measureModel({ workers: createBrowserWorkerHost(), snapshots: createSnapshotFiles() }, { shape: 'smolvlm-500m' },
    { threads: 2, repeat: 1 })
  return Object.fromEntries(['decode0', 'decode512', 'prefill64', 'prefill512'].map((name) =>
    [name, numbers[name.replace(/[0-9]/, 'TokensPerSecond$&')]]))
})()`

const ONNXRUNTIME = `(async () => {
  const address = (path) => new URL('../' + path, location.href).href
  const ort = await import(address('peers/onnxruntime-web/dist/ort.wasm.bundle.min.mjs'))
  ort.env.wasm.numThreads = 2
  ort.env.wasm.wasmPaths = address('peers/onnxruntime-web/dist/')
  const file = 'text-head8.onnx'
  const session = await ort.InferenceSession.create(address('models/' + file), {
    executionProviders: ['wasm'], graphOptimizationLevel: 'all',
    externalData: [{ path: file + '.data', data: address('models/' + file + '.data') }],
  })
  const names = Array.from({ length: 32 }, (_, i) => ['key.' + i, 'value.' + i]).flat()
  let cache, length
  const forward = async (tokens) => {
    length += tokens.length
    const feeds = {
      input_ids: new ort.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      seqlens_k: new ort.Tensor('int32', Int32Array.of(length - 1), [1]),
      total_sequence_length: new ort.Tensor('int32', Int32Array.of(length), []),
    }
    for (const name of names) feeds['past_' + name] = cache[name]
    const outputs = await session.run(feeds)
    for (const name of names) cache[name] = outputs['present_' + name]
    const logits = outputs.logits.data
    let best = 0
    for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i
    return best
  }
  const start = (count) => {
    length = 0
    cache = Object.fromEntries(names.map((name) => [name, new ort.Tensor('float32', new Float32Array(0), [1, 5, 0, 64])]))
    return forward(Array.from({ length: count }, (_, i) => (i * 7919) % 49280))
  }
  await start(64)
  const speeds = {}
  for (const [count, decode, prefill] of [[1, 'decode0'], [64, , 'prefill64'], [512, 'decode512', 'prefill512']]) {
    let began = performance.now()
    let token = await start(count)
    if (prefill) speeds[prefill] = count * 1000 / (performance.now() - began)
    if (!decode) continue
    began = performance.now()
    for (let i = 0; i < 32; i++) token = await forward([token])
    speeds[decode] = 32000 / (performance.now() - began)
  }
  return speeds
})()`

/** It takes texts only and reports its own times; the text is made as long as it must be for so many tokens. */
const WLLAMA = `(async () => {
  const address = (path) => new URL('../' + path, location.href).href
  const { Wllama } = await import(address('peers/@wllama/wllama/esm/index.js'))
  const wllama = new Wllama({ default: address('peers/@wllama/wllama/esm/wasm/wllama.wasm') }, { suppressNativeLog: true })
  const blob = await (await fetch(address('models/text-head8.gguf'))).blob()
  await wllama.loadModel([blob], { n_ctx: 1024, n_batch: 512, n_ubatch: 512, n_threads: 2, n_gpu_layers: 0, n_parallel: 1 })
  if (!wllama.isMultithread()) throw new Error('wllama runs on one thread')
  let state = 1
  const letter = () => String.fromCharCode(97 + ((state = (state * 48271) % 2147483647) % 26))
  const text = (letters) => Array.from({ length: letters }, letter).join('')
  const complete = async (prompt, tokens) => (await wllama.createCompletion({
    prompt, max_tokens: tokens, temperature: 0, ignore_eos: true, cache_prompt: false })).timings
  const { prompt_n: probe } = await complete(text(200), 1)
  const speeds = {}
  for (const [count, decode, prefill] of [[1, 'decode0'], [64, , 'prefill64'], [512, 'decode512', 'prefill512']]) {
    const timings = await complete(text(Math.max(1, Math.round(count * 200 / probe))), 33)
    if (prefill) speeds[prefill] = timings.prompt_per_second
    if (prefill) speeds[prefill + 'Tokens'] = timings.prompt_n
    if (decode) speeds[decode] = timings.predicted_per_second
  }
  return speeds
})()`

const ENGINES: Readonly<Record<string, string>> = {
  onsight: ONSIGHT,
  'onnxruntime-web': ONNXRUNTIME,
  wllama: WLLAMA,
}

const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const executablePath = findChromium()
if (executablePath === undefined) throw new Error('There is no Chromium here; name one with CHROME_PATH.')
const server = await startPageServer({
  unbundled: inRepository('test/browser/unbundled'),
  dist: inRepository('dist'),
  packages: inRepository('node_modules/@huggingface'),
  peers: resolve(positionals[0] ?? ''),
  models: inRepository('bench/peers/models'),
})
try {
  const best: Record<string, Record<string, number>> = {}
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [engine, script] of Object.entries(ENGINES)) {
      if (options.engine !== undefined && options.engine !== engine) continue
      // A browser of its own each time: nothing of the last engine is left in memory.
      const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
      try {
        const page = await browser.newPage()
        page.on('crash', () => console.error(`${engine}: the page crashed`))
        page.on('console', (message) => message.type() === 'error' && console.error(engine, message.text()))
        page.setDefaultTimeout(900_000)
        await page.goto(`${server.origin}/isolated/unbundled/index.html`)
        const speeds = (await page.evaluate(script)) as Speeds
        best[engine] ??= {}
        for (const [name, value] of Object.entries(speeds))
          best[engine][name] = Math.max(best[engine][name] ?? 0, value)
      } finally {
        await browser.close()
      }
    }
  }
  console.log(JSON.stringify(best, null, 2))
} finally {
  await server.close()
}
