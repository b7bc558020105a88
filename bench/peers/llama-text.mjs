// Measures llama.cpp through node-llama-cpp on a text model: node llama-text.mjs MODEL.gguf THREADS
//
// Flash attention and the f16 key/value cache are the package's defaults. It has no picture input.

import { getLlama } from 'node-llama-cpp'
import { measureText, printRecord } from './metrics.mjs'

const [modelPath, threads] = process.argv.slice(2)
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: Number(threads), logLevel: 'error' })

const loadStartMs = performance.now()
const model = await llama.loadModel({ modelPath, gpuLayers: 0 })
const context = await model.createContext({ contextSize: 1024, batchSize: 512, threads: Number(threads) })
const loadMs = performance.now() - loadStartMs

const sequence = context.getSequence()
let tokens

const record = await measureText({
  async start(prompt) {
    await tokens?.return()
    await sequence.clearHistory()
    tokens = sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })
    return (await tokens.next()).value
  },
  // The generator itself feeds the token it gave last.
  step: async () => (await tokens.next()).value,
})
printRecord({ ...record, loadMs })
// Unloading is not measured, and the package's worker threads would keep the process alive.
process.exit(0)
