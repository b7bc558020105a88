// Measures onnxruntime-node on one 512-pixel tile: node onnxruntime-vision.mjs MODEL.onnx THREADS

import { InferenceSession, Tensor } from 'onnxruntime-node'
import { printRecord } from './metrics.mjs'

const [model, threads] = process.argv.slice(2)
const SHAPE = [1, 3, 512, 512]

const loadStartMs = performance.now()
const session = await InferenceSession.create(model, {
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
})
const loadMs = performance.now() - loadStartMs

const pixels = Float32Array.from({ length: 3 * 512 * 512 }, (_, i) => ((i * 7919) % 256) / 127.5 - 1)
const encode = () => session.run({ pixel_values: new Tensor('float32', pixels, SHAPE) })
await encode()
const startMs = performance.now()
await encode()
printRecord({ tileMs: performance.now() - startMs, loadMs })
