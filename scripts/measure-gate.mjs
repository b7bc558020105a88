// Measures the voice gate against Silero alone: speech missed and false alarms over noise, what each stage costs.
// Prints the tables of docs/speech-gate.md. Needs a build.
//
//   node scripts/measure-gate.mjs [FOLDER]
//
// FOLDER: speech of scripts/train-gate/make_speech.py, of which the held-out part is taken, or any WAV files of 16 kHz
// named held-*.wav. Without it: the clips of the tests.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @param {string} path */
const built = (path) => import(new URL(`../dist/${path}`, import.meta.url).href)
const { parseWav } = await built('audio/wav-decoder.js')
const { createMemorySource } = await built('shared/memory-source.js')
const { SileroVad } = await built('models/silero/silero.js')
const { loadSileroWeights } = await built('models/silero/weights.js')
const { SpeechSegmenter } = await built('speech/vad/speech-segmenter.js')
const { createVoiceGate } = await built('speech/vad/voice-gate.js')
const { LevelCheck } = await built('speech/vad/level-check.js')
const { SmallNet, loadSmallNetWeights } = await built('speech/vad/small-net.js')

const RATE = 16000
const STEP = 512
const SPEECH_DB = -26
/** Steps around speech that count as neither: where a word ends is a matter of taste. */
const MARGIN_STEPS = 6

const folder = process.argv[2] ?? fileURLToPath(new URL('../test/golden/speech', import.meta.url))
const names = readdirSync(folder).filter((name) => name.endsWith('.wav'))
const held = names.some((name) => name.startsWith('held-'))
  ? names.filter((name) => name.startsWith('held-'))
  : names
const clips = held.sort().map((name) => normalised(parseWav(readFileSync(`${folder}/${name}`), name).samples))

/** Numbers from 0 to 1, the same in every run (mulberry32). @param {number} seed */
function createRandom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** @param {Float32Array} samples */
function rms(samples) {
  return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length)
}

/** @param {Float32Array} samples */
function normalised(samples) {
  const scale = 1 / (rms(samples) + 1e-12)
  return samples.map((x) => x * scale)
}

/** @param {() => number} random */
const gaussian = (random) => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())

/** @type {Record<string, (random: () => number, count: number) => Float32Array>} */
const NOISES = {
  white: (random, count) => Float32Array.from({ length: count }, () => gaussian(random)),
  pink(random, count) {
    // Paul Kellet's filter.
    const state = [0, 0, 0]
    return Float32Array.from({ length: count }, () => {
      const white = gaussian(random)
      state[0] = 0.99765 * Number(state[0]) + white * 0.099046
      state[1] = 0.963 * Number(state[1]) + white * 0.2965164
      state[2] = 0.57 * Number(state[2]) + white * 1.0526913
      return Number(state[0]) + Number(state[1]) + Number(state[2]) + white * 0.1848
    })
  },
  babble(random, count) {
    const out = new Float32Array(count)
    for (let voice = 0; voice < 8; voice++) {
      let at = -Math.floor(random() * 2 * RATE)
      while (at < count) {
        const clip = clips[Math.floor(random() * clips.length)] ?? new Float32Array(1)
        for (let i = Math.max(0, -at); i < clip.length && at + i < count; i++)
          out[at + i] = Number(out[at + i]) + Number(clip[i])
        at += clip.length
      }
    }
    return out
  },
  hum: (random, count) =>
    Float32Array.from({ length: count }, (_, i) => {
      let sum = 0
      for (let k = 1; k <= 12; k++) sum += Math.sin((2 * Math.PI * 50 * k * i) / RATE + k) / k
      return sum + 0.02 * gaussian(random)
    }),
  clicks(random, count) {
    const out = new Float32Array(count)
    for (let n = 0; n < (count / RATE) * 4; n++) {
      const at = Math.floor(random() * count)
      const size = 0.3 + random()
      for (let i = 0; i < 200 && at + i < count; i++)
        out[at + i] = Number(out[at + i]) + size * gaussian(random) * Math.exp(-i / 25)
    }
    return out.map((x) => x + 0.002 * gaussian(random))
  },
}

/** @param {() => number} _random @param {number} count */
const silent = (_random, count) => new Float32Array(count)

/** Sentences with pauses of 1 to 3 seconds, two seconds of nothing first. @param {() => number} random */
function timeline(random) {
  const order = clips.map((clip) => ({ clip, key: random() })).sort((a, b) => a.key - b.key)
  const parts = [new Float32Array(2 * RATE)]
  /** @type {[number, number][]} */
  const utterances = []
  let length = 2 * RATE
  for (const { clip } of order.slice(0, 24)) {
    const pause = new Float32Array(Math.floor(RATE * (1 + 2 * random())))
    utterances.push([length, length + clip.length])
    parts.push(clip, pause)
    length += clip.length + pause.length
  }
  const samples = new Float32Array(Math.ceil(length / STEP) * STEP)
  let at = 0
  for (const part of parts) {
    samples.set(part, at)
    at += part.length
  }
  return { samples, utterances }
}

const file = (/** @type {string} */ name) =>
  createMemorySource(name, new Uint8Array(readFileSync(new URL(`../weights/${name}`, import.meta.url))))
const silero = new SileroVad(await loadSileroWeights(file('silero-vad.safetensors')))

/** @param {Float32Array} samples @returns {number[]} */
function sileroProbabilities(samples) {
  silero.reset()
  return Array.from({ length: samples.length / STEP }, (_, step) => silero.run(samples, step * STEP))
}

/** Which steps lie in segments. @param {readonly { type: string, start?: number, end?: number }[]} events @param {number} steps */
function covered(events, steps) {
  const inside = new Uint8Array(steps)
  for (const { type, start = 0, end = 0 } of events) {
    if (type === 'speech-ended') inside.fill(1, Math.floor(start / STEP), Math.ceil(end / STEP))
  }
  return inside
}

/** @param {Float32Array} samples */
function sileroAlone(samples) {
  const segmenter = new SpeechSegmenter()
  const events = []
  for (const [step, p] of sileroProbabilities(samples).entries()) {
    const event = segmenter.push(p, step * STEP, (step + 1) * STEP)
    if (event) events.push(event)
  }
  const last = segmenter.finish(samples.length)
  return covered(last ? [...events, last] : events, samples.length / STEP)
}

/** @param {Float32Array} samples */
async function ours(samples) {
  const gate = await createVoiceGate()
  const events = []
  // As a microphone hands it over.
  for (let at = 0; at < samples.length; at += 480) events.push(...gate.push(samples.subarray(at, at + 480)))
  events.push(...gate.finish())
  return { inside: covered(events, samples.length / STEP), counters: gate.counters }
}

const percent = (/** @type {number} */ x) => (100 * x).toFixed(1)

/** @param {Uint8Array} inside @param {Uint8Array} speech @param {Uint8Array} silence @param {[number, number][]} utterances */
function score(inside, speech, silence, utterances) {
  let missed = 0
  let falseAlarms = 0
  let speechSteps = 0
  let silentSteps = 0
  for (const [step, isInside] of inside.entries()) {
    if (speech[step]) {
      speechSteps++
      if (!isInside) missed++
    }
    if (silence[step]) {
      silentSteps++
      if (isInside) falseAlarms++
    }
  }
  const lost = utterances.filter(
    ([from, to]) => !inside.subarray(Math.floor(from / STEP), Math.ceil(to / STEP)).some(Boolean),
  )
  return { missed: missed / speechSteps, falseAlarms: falseAlarms / silentSteps, lost: lost.length }
}

const gain = 10 ** (SPEECH_DB / 20)
const { samples: spoken, utterances } = timeline(createRandom(5))
const clean = sileroProbabilities(spoken.map((x) => x * gain))
const speech = Uint8Array.from(clean, (p) => (p > 0.5 ? 1 : 0))
const silence = speech.map((_, step) =>
  speech.subarray(Math.max(0, step - MARGIN_STEPS), step + MARGIN_STEPS + 1).some(Boolean) ? 0 : 1,
)
console.log(
  `${clips.length} clips, ${utterances.length} utterances, ${(spoken.length / RATE).toFixed(0)} s\n`,
)
console.log(
  '| Noise | SNR | missed, ours | missed, Silero | false, ours | false, Silero | lost, ours | lost, Silero | small net ran | large net ran |',
)
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
for (const [name, make] of Object.entries({ none: silent, ...NOISES })) {
  const noise = make(createRandom(11), spoken.length)
  const scale = name === 'none' ? 0 : 1 / rms(noise)
  for (const snr of name === 'none' ? [Number.POSITIVE_INFINITY] : [20, 10, 5, 0]) {
    const level = name === 'none' ? 0 : gain * scale * 10 ** (-snr / 20)
    const samples = spoken.map((x, i) =>
      Math.fround(Math.max(-1, Math.min(1, x * gain + Number(noise[i]) * level))),
    )
    const gate = await ours(samples)
    const a = score(gate.inside, speech, silence, utterances)
    const b = score(sileroAlone(samples), speech, silence, utterances)
    const steps = samples.length / STEP
    console.log(
      `| ${name} | ${name === 'none' ? '-' : `${snr} dB`} | ${percent(a.missed)} | ${percent(b.missed)} | ${percent(a.falseAlarms)} | ${percent(b.falseAlarms)} | ` +
        `${a.lost} | ${b.lost} | ${percent(gate.counters.smallNetRuns / steps)} | ${percent(gate.counters.largeNetRuns / steps)} |`,
    )
  }
}

console.log('\n| 10 minutes of nothing but | small net ran | large net ran | alarms, ours | alarms, Silero |')
console.log('| --- | --- | --- | --- | --- |')
for (const [name, make] of Object.entries({ 'digital silence': silent, ...NOISES })) {
  const noise = make(createRandom(23), 600 * RATE)
  const level = 10 ** (-40 / 20) / (rms(noise) + 1e-12)
  const samples = noise.map((x) => x * level).subarray(0, Math.floor((600 * RATE) / STEP) * STEP)
  const gate = await ours(samples)
  const steps = samples.length / STEP
  const alarms = (/** @type {Uint8Array} */ inside) =>
    inside.reduce((sum, x, i) => sum + (x && !inside[i - 1] ? 1 : 0), 0)
  console.log(
    `| ${name} | ${percent(gate.counters.smallNetRuns / steps)} | ${percent(gate.counters.largeNetRuns / steps)} | ${alarms(gate.inside)} | ${alarms(sileroAlone(samples))} |`,
  )
}

/** Best of several, in ms for each second of sound. @param {(step: Float32Array) => unknown} run */
function cost(run) {
  const samples = spoken.map((x) => x * gain).subarray(0, 20 * RATE)
  const steps = Math.floor(samples.length / STEP)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 15; round++) {
    const start = performance.now()
    for (let step = 0; step < steps; step++) run(samples.subarray(step * STEP, (step + 1) * STEP))
    best = Math.min(best, performance.now() - start)
  }
  return (best / ((steps * STEP) / RATE)).toFixed(3)
}

const small = new SmallNet(await loadSmallNetWeights(file('voice-gate.safetensors')))
const level = new LevelCheck()
console.log('\n| Stage | ms for each second of sound |\n| --- | --- |')
console.log(`| level check (all that runs in silence) | ${cost((step) => level.hear(step))} |`)
console.log(`| small network | ${cost((step) => small.run(step))} |`)
console.log(`| Silero | ${cost((step) => silero.run(step))} |`)
