// Speed of a cache in 16 and in 8 bits, side by side in one run: the SmolVLM-500M shape with random weights.
//
//   npm run build && node bench/kv-speed.mjs [rounds]
import { loadShape } from './lib/load.mjs'

const rounds = Number(process.argv[2] ?? 7)
const DECODED = 16
const CONTEXTS = [0, 512, 2048]
const PROMPTS = [64, 512, 2048]
const KINDS = /** @type {const} */ (['f16', 'q8'])

const models = await Promise.all(KINDS.map((kv) => loadShape('smolvlm-500m', 'q4', kv)))
const caches = models.map(({ model }) => model.createCache())
for (const cache of caches) await cache.reserve(2048 + DECODED, 0)

/** @type {Map<string, number[]>} */
const times = new Map()
for (let round = -1; round < rounds; round++) {
  for (const [index, kv] of KINDS.entries()) {
    for (const context of CONTEXTS)
      await measure(`decode at ${context}`, kv, round, () => decode(index, context))
    for (const tokens of PROMPTS) {
      if (tokens < 2048 || round < 2)
        await measure(`prefill of ${tokens}`, kv, round, () => prefill(index, tokens))
    }
  }
}

const [f16, q8] = models.map(({ model }) => model.cacheBytesPerToken)
console.log(`| | f16 (${f16} bytes a token) | q8 (${q8} bytes a token) | speed of q8 against f16 |`)
console.log('| --- | --- | --- | --- |')
for (const name of [...CONTEXTS.map((n) => `decode at ${n}`), ...PROMPTS.map((n) => `prefill of ${n}`)]) {
  const tokens = name.startsWith('decode') ? DECODED : Number(name.split(' ').at(-1))
  const [a, b] = KINDS.map((kv) => Math.min(.../** @type {number[]} */ (times.get(`${name} ${kv}`))))
  const speed = (/** @type {number | undefined} */ ms) => `${(tokens / (Number(ms) / 1000)).toFixed(1)} tok/s`
  console.log(`| ${name} | ${speed(a)} | ${speed(b)} | ${(Number(a) / Number(b)).toFixed(2)} |`)
}
await Promise.all(models.map(({ backend }) => backend.dispose()))

/** The first round warms up. @param {string} name @param {string} kv @param {number} round @param {() => Promise<void>} work */
async function measure(name, kv, round, work) {
  const start = performance.now()
  await work()
  const key = `${name} ${kv}`
  if (round >= 0) times.set(key, [...(times.get(key) ?? []), performance.now() - start])
}

/** @param {number} index @param {number} context */
async function decode(index, context) {
  const { model, backend } = /** @type {typeof models[number]} */ (models[index])
  const cache = /** @type {typeof caches[number]} */ (caches[index])
  for (let step = 0; step < DECODED; step++) {
    const ids = Int32Array.of(step + 7)
    model.decoder.run({ ids, replacements: [], position: context + step, cache, want: 'last' })
    await backend.read(model.decoder.logits, model.decoder.config.vocabSize * 4)
  }
}

/** @param {number} index @param {number} tokens */
async function prefill(index, tokens) {
  const { model, backend } = /** @type {typeof models[number]} */ (models[index])
  const cache = /** @type {typeof caches[number]} */ (caches[index])
  for (let position = 0; position < tokens; position += 256) {
    const ids = Int32Array.from({ length: Math.min(256, tokens - position) }, (_, i) => (position + i) * 37)
    model.decoder.run({ ids: ids.map((id) => id % 49280), replacements: [], position, cache, want: 'last' })
    await backend.flush()
  }
}
