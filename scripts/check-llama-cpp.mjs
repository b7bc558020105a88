// Compares what Onsight and llama.cpp say to the same GGUF file: token ids of prompts, then greedy tokens. Text only.
//
//   npm run build && npm ci --prefix bench/peers
//   node scripts/check-llama-cpp.mjs MODEL.gguf [--steps 200] [--prompt TEXT]...
//
// Both compute a little differently (order of sums, 16-bit keys and values, int8 activations), so where two tokens are
// about equally likely they may part, and nothing can be compared from there on. Such a place is printed with the
// difference of the two logits in llama.cpp, and counts as equal when that is below --tie (default 0.1).

import { existsSync } from 'node:fs'
import process from 'node:process'
import { parseArgs } from 'node:util'

const PROMPTS = [
  '<|im_start|>User: What can you see?<end_of_utterance>\nAssistant:',
  '<|im_start|>User: Is there a dog?<end_of_utterance>\nAssistant:',
  '<|im_start|>User: 图里有什么？<end_of_utterance>\nAssistant:',
  'The 3 red circles and 12 blue squares',
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steps: { type: 'string', default: '200' },
    prompt: { type: 'string', multiple: true },
    tie: { type: 'string', default: '0.1' },
  },
})
const [file] = positionals
if (!file || !existsSync(file)) {
  console.error('usage: node scripts/check-llama-cpp.mjs MODEL.gguf [--steps 200] [--prompt TEXT]...')
  process.exit(2)
}
const steps = Number(values.steps)
const tie = Number(values.tie)

const { loadModel } = await import('../dist/entry/index.node.js')
const peer = new URL('../bench/peers/node_modules/node-llama-cpp/dist/index.js', import.meta.url)
const { getLlama } = await import(peer.href)
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: 1 })
const theirs = await llama.loadModel({ modelPath: file, gpuLayers: 0 })
const ours = await loadModel(file, { threads: 1 })

let failures = 0
for (const prompt of values.prompt ?? PROMPTS) {
  const trace = await ours.trace({ prompt, greedyTokens: steps })
  const ids = Array.from(tensorOf(trace, 'input_ids').data)
  const theirIds = Array.from(theirs.tokenize(prompt, true))
  const sameIds = ids.join() === theirIds.join()
  const own = Array.from(tensorOf(trace, 'greedy').data)
  const other = await greedy(ids, own)
  const same = other.same === steps
  if (!sameIds || !(same || other.gap < tie)) failures++
  console.log(
    `${JSON.stringify(prompt.slice(0, 60))}: ${ids.length} prompt tokens ${sameIds ? 'equal' : `differ: ${ids} / ${theirIds}`}; ` +
      (same ? `${steps} greedy tokens equal` : `greedy tokens part at ${other.same} (${other.note})`),
  )
}
await ours.dispose()
console.log(failures === 0 ? 'equal' : `${failures} prompts differ`)
process.exit(failures === 0 ? 0 : 1)

/** @param {readonly import('../src/engine/types.ts').TraceTensor[]} trace @param {string} name */
function tensorOf(trace, name) {
  const tensor = trace.find((entry) => entry.name === name)
  if (!tensor) throw new Error(`The trace has no tensor "${name}".`)
  return tensor
}

/**
 * Their greedy tokens behind `prompt`, up to the first that is another than ours; `gap`: how sure they were of it.
 * @param {number[]} prompt
 * @param {number[]} own
 */
async function greedy(prompt, own) {
  const context = await theirs.createContext({ contextSize: prompt.length + own.length + 8 })
  const options = { temperature: 0, yieldEogToken: true }
  const steps = context.getSequence().evaluateWithMetadata(prompt, { probabilities: true }, options)
  let same = 0
  let gap = 0
  let note = ''
  for await (const { token, probabilities } of steps) {
    if (token !== own[same]) {
      gap = Math.log((probabilities.get(token) ?? 1) / (probabilities.get(own[same]) ?? 0))
      note = `${own[same]} / ${token}, which is ahead by ${gap.toFixed(4)} there`
      break
    }
    same++
    if (same === own.length) break
  }
  await context.dispose()
  return { same, gap, note }
}
