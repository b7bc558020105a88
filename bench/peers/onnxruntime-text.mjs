// Measures onnxruntime-node on a text decoder: node onnxruntime-text.mjs MODEL.onnx THREADS
//
// The key/value cache goes out as `present` and back in as `past`, as every JavaScript user of this package does
// it: its binding copies each output into a new array, so a shared in-place cache, which the native interface
// allows, costs more here (the copy is then as large as the buffer, not as the context).

import { InferenceSession, Tensor } from 'onnxruntime-node'
import { measureText, printRecord } from './metrics.mjs'

const [model, threads] = process.argv.slice(2)
const LAYERS = 32
const EMPTY_CACHE_SHAPE = [1, 5, 0, 64] // (batch, kvHeads, positions, headDim)

const loadStartMs = performance.now()
const session = await InferenceSession.create(model, {
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
})
const loadMs = performance.now() - loadStartMs

const cacheNames = Array.from({ length: LAYERS }, (_, i) => [`key.${i}`, `value.${i}`]).flat()
let cache
let length

async function forward(tokens) {
  length += tokens.length
  const feeds = {
    input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
    seqlens_k: new Tensor('int32', Int32Array.of(length - 1), [1]), // last index, not the length
    total_sequence_length: new Tensor('int32', Int32Array.of(length), []),
  }
  for (const name of cacheNames) feeds[`past_${name}`] = cache[name]
  const outputs = await session.run(feeds)
  for (const name of cacheNames) cache[name] = outputs[`present_${name}`]
  return findLargest(outputs.logits.data)
}

function findLargest(logits) {
  let best = 0
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i
  return best
}

const record = await measureText({
  start(prompt) {
    length = 0
    cache = Object.fromEntries(
      cacheNames.map((name) => [name, new Tensor('float32', new Float32Array(0), EMPTY_CACHE_SHAPE)]),
    )
    return forward(prompt)
  },
  step: (token) => forward([token]),
})
printRecord({ ...record, loadMs })
