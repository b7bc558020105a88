// Models for benchmarks that look below the public interface: from files, or of a published shape with random weights.
import { createWasmBackend } from '../../dist/backend/wasm/wasm-backend.js'
import { assembleModel, prepareModel } from '../../dist/engine/assemble-model.js'
import { openCheckpoint } from '../../dist/engine/open-checkpoint.js'
import { createSyntheticCheckpoint } from '../../dist/engine/synthetic-checkpoint.js'
import { PassQueue } from '../../dist/generation/pass-queue.js'
import { createNodeFileHost } from '../../dist/host/node/file-host.js'
import { createImageDecoder } from '../../dist/host/node/image-decoder.js'
import { createNodeWorkerHost } from '../../dist/host/node/worker-host.js'
import { loadLanguageModel } from '../../dist/models/language-model.js'
import { choosePrecision, KV_TYPES } from '../../dist/models/precision.js'
import { parseCheckpoint } from '../../dist/models/registry.js'
import { WeightLoader } from '../../dist/models/weight-loader.js'

/** @typedef {import('../../dist/engine/types.js').KvName} KvName */
/** @typedef {import('../../dist/engine/types.js').PrecisionName} PrecisionName */

const files = createNodeFileHost()
const images = createImageDecoder()

/** @param {string} path @param {PrecisionName} precision @param {KvName} kv */
export async function loadFiles(path, precision, kv) {
  const opened = await openCheckpoint(files, path)
  const backend = await createWasmBackend(createNodeWorkerHost())
  try {
    return await assembleModel(await prepareModel(opened), backend, { files, images }, { precision, kv })
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

/** No tokenizer, no pictures. @param {string} shape @param {'f32' | 'q8' | 'q4'} precision @param {KvName} kv */
export async function loadShape(shape, precision, kv) {
  const others = precision === 'f32' ? 'F32' : 'Q8_0'
  const layers = precision === 'q4' ? 'Q4_0' : others
  const { config, tensors } = parseCheckpoint(createSyntheticCheckpoint(shape, { layers, others }))
  const backend = await createWasmBackend(createNodeWorkerHost())
  const loader = new WeightLoader({
    backend,
    tensors,
    precision: choosePrecision(precision === 'f32' ? 'f32' : 'auto', 'gguf'),
    name: shape,
    signal: undefined,
  })
  const model = await loadLanguageModel(backend, config, loader, { kvType: KV_TYPES[kv] })
  return { model, backend, queue: new PassQueue() }
}
