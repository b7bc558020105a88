// A whole turn of hearing, seeing and speaking within a budget of memory: how long each coming and going takes, how much
// memory there is at most. Build first.
//
//   node bench/speaking-turns.mjs RECOGNIZER MODEL VOICE SOUND.wav PICTURE [LIMIT_MB]
import { performance } from 'node:perf_hooks'
import { createSpeakingModels, readAudioFile } from '../dist/entry/speech.node.js'

const [recognizer = '', model = '', voice = '', sound = '', picture = '', limit = '400'] =
  process.argv.slice(2)
if (picture === '')
  throw new Error('usage: node bench/speaking-turns.mjs RECOGNIZER MODEL VOICE SOUND.wav PICTURE [LIMIT_MB]')
const start = performance.now()
const at = () => `${((performance.now() - start) / 1000).toFixed(2).padStart(7)} s`
const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(0)} MB`

const models = await createSpeakingModels({
  recognizer: { reference: recognizer, estimatedBytes: 120e6 },
  model: { reference: model, estimatedBytes: 330e6, options: { contextLength: 1024, imageTokens: 64 } },
  voice: { reference: voice, estimatedBytes: 45e6 },
  memoryLimit: Number(limit) * 1e6,
  onSwap: ({ part, kind, ms, bytes }) =>
    console.log(
      `${at()}  ${part} ${kind} in ${ms.toFixed(0)} ms, ${megabytes(bytes)}; process ${megabytes(process.memoryUsage.rss())}`,
    ),
})
let loudest = 0
for (const turn of [1, 2]) {
  console.log(`${at()}  turn ${turn}`)
  let question = ''
  for await (const clip of readAudioFile(sound)) {
    for await (const event of models.transcribe(clip))
      if (event.type === 'transcript-finished') question = event.text
  }
  console.log(`${at()}  heard "${question}"`)
  let answer = ''
  const images = turn === 1 ? [picture] : []
  for await (const event of models.ask({ text: question, images }, { maxTokens: 24 })) {
    if (event.type === 'text-delta') answer += event.text
  }
  console.log(`${at()}  answered ${answer.length} characters`)
  let samples = 0
  for await (const piece of models.synthesize('There is a dog on the left.')) {
    samples += piece.samples.length
    for (const sample of piece.samples) loudest = Math.max(loudest, Math.abs(sample))
  }
  console.log(`${at()}  said ${samples} samples`)
}
console.log(
  `models at most ${megabytes(models.peakBytes)}, process at most ${megabytes(process.resourceUsage().maxRSS * 1024)}`,
)
await models.dispose()
