// Whisper on two threads: Onsight against onnxruntime-node, one process, turns taken, best of several. After a build,
// `npm ci` here and make_whisper_onnx.py:
//
//   node whisper.mjs WHISPER_FOLDER models/whisper [repetitions]
//
// Encoder with the keys and values of cross-attention, of 30 s and of an utterance of 5 s: the exported graph has 1500
// positions whatever was said, Onsight encodes the sound and a margin. Token: one greedy step over 30 s of sound, logits
// copied out. Processor time counts both threads; unlike the clock it hardly depends on what else the machine does.
import * as ort from 'onnxruntime-node'
import { createWasmBackend } from '../../dist/backend/wasm/wasm-backend.js'
import { createNodeFileHost } from '../../dist/host/node/file-host.js'
import { createNodeWorkerHost } from '../../dist/host/node/worker-host.js'
import { openSpeechModel } from '../../dist/speech/open-speech-model.js'
import { loadWhisperParts } from '../../dist/speech/recognition/load-whisper-recognizer.js'

const [folder = '', onnx = 'models/whisper', count = '4'] = process.argv.slice(2)
const TOKENS = 32

const backend = await createWasmBackend(createNodeWorkerHost(), { threads: 2 })
const opened = await openSpeechModel(createNodeFileHost(), folder)
const options = { precision: /** @type {const} */ ('auto'), signal: undefined, onProgress: undefined }
const { parts } = await loadWhisperParts(opened, backend, options)
const { model, spectrograms } = parts
const { melBands, decoder, dim } = model.config
const noise = Float32Array.from({ length: 480_000 }, () => (Math.random() - 0.5) * 0.1)
const mel = spectrograms.make(noise, 1500)
const short = spectrograms.make(noise.subarray(0, 80_000), 250 + 128)

const onsight = {
  encode: () => model.encode(mel),
  encodeShort: () => model.encode(short),
  step: (/** @type {number} */ position) => model.run([400 + position], position, 'last'),
}

async function openPeer(/** @type {string} */ suffix) {
  const session = { intraOpNumThreads: 2, interOpNumThreads: 1, executionProviders: ['cpu'] }
  const encoder = await ort.InferenceSession.create(`${onnx}/encoder${suffix}.onnx`, session)
  const step = await ort.InferenceSession.create(`${onnx}/step${suffix}.onnx`, session)
  const bands = new Float32Array(mel.length)
  for (let frame = 0; frame < 3000; frame++)
    for (let band = 0; band < melBands; band++) bands[band * 3000 + frame] = mel[frame * melBands + band]
  /** @type {Record<string, ort.Tensor>} */
  let sound = {}
  /** @type {Record<string, ort.Tensor>} */
  let past = {}
  const encode = async () => {
    sound = { ...(await encoder.run({ mel: new ort.Tensor('float32', bands, [1, melBands, 3000]) })) }
  }
  return {
    encode,
    encodeShort: encode,
    step: async (/** @type {number} */ position) => {
      if (position === 0)
        for (let layer = 0; layer < decoder.layers; layer++)
          for (const kind of ['k', 'v'])
            past[`past.${layer}.${kind}`] = new ort.Tensor('float32', new Float32Array(0), [
              1,
              decoder.heads,
              0,
              dim / decoder.heads,
            ])
      const { logits, ...fresh } = await step.run({
        token: new ort.Tensor('int64', BigInt64Array.of(BigInt(400 + position)), [1, 1]),
        position: new ort.Tensor('int64', BigInt64Array.of(BigInt(position)), [1]),
        ...past,
        ...sound,
      })
      past = Object.fromEntries(
        Object.entries(fresh).map(([name, value]) => [name.replace('new', 'past'), value]),
      )
      return logits
    },
  }
}

const engines = {
  'onsight q8': onsight,
  'onnxruntime-node int8': await openPeer('-int8'),
  'onnxruntime-node f32': await openPeer(''),
}
/** Milliseconds of the clock and of the processor, the least of all rounds. @type {Record<string, Record<string, { wall: number, cpu: number }>>} */
const best = {}
/** @param {string} engine @param {string} what @param {number} times @param {() => Promise<unknown>} work */
async function measure(engine, what, times, work) {
  const start = performance.now()
  const started = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(started)
  const wall = (performance.now() - start) / times
  const cpu = (user + system) / 1000 / times
  best[what] ??= {}
  const so = best[what][engine] ?? { wall, cpu }
  best[what][engine] = { wall: Math.min(wall, so.wall), cpu: Math.min(cpu, so.cpu) }
}
for (let round = 0; round < Number(count); round++) {
  for (const [name, engine] of Object.entries(engines)) {
    await measure(name, 'encoder, 5 s', 1, engine.encodeShort)
    await measure(name, 'encoder, 30 s', 1, engine.encode)
    await measure(name, 'token', TOKENS, async () => {
      for (let position = 0; position < TOKENS; position++) await engine.step(position)
    })
  }
}
console.log(
  '| | engine | clock | processor | Onsight is faster by (clock) | (processor) |\n| --- | --- | --- | --- | --- | --- |',
)
for (const [what, engineTimes] of Object.entries(best)) {
  const own = engineTimes['onsight q8']
  for (const [engine, { wall, cpu }] of Object.entries(engineTimes))
    console.log(
      `| ${what} | ${engine} | ${wall.toFixed(1)} ms | ${cpu.toFixed(1)} ms | ${(wall / own.wall).toFixed(2)}x | ${(cpu / own.cpu).toFixed(2)}x |`,
    )
}
await backend.dispose()
