import { expect, test } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { openCheckpoint } from '../engine/open-checkpoint.ts'
import { createNodeFileHost } from '../host/node/file-host.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { loadLanguageModel, runStateByteLength } from './language-model.ts'
import type { Precision } from './precision.ts'
import { parseCheckpoint } from './registry.ts'
import { WeightLoader } from './weight-loader.ts'
import { measureWeights } from './weight-sizes.ts'

test.each(['smolvlm', 'llava', 'llama3', 'qwen3', '../../models/tiny'])(
  '%s takes what was foreseen',
  async (name) => {
    const backend = await createWasmBackend(createNodeWorkerHost(), { threads: 1 })
    const opened = await openCheckpoint(createNodeFileHost(), goldenPath(name))
    const { config, tensors } = parseCheckpoint(opened.checkpoint)
    for (const kind of ['f32', 'q8', 'q4', 'as-stored'] as const) {
      const precision: Precision = { kind }
      const weights = await measureWeights(config, tensors, precision, (...shape) =>
        backend.matrixByteLength(...shape),
      )
      const before = backend.allocatedBytes
      const loader = new WeightLoader({ backend, tensors, precision, name })
      const model = await loadLanguageModel(backend, config, loader, { kvType: 'F16', maxPassTokens: 64 })
      const taken = backend.allocatedBytes - before
      const foreseen = weights + runStateByteLength(config, 64)
      // Buffers end at multiples of 64 bytes.
      expect(taken).toBeGreaterThanOrEqual(foreseen)
      expect(taken - foreseen).toBeLessThan(64 * (tensors.size + 2))
      model.dispose()
    }
    await Promise.all(opened.sources.map((source) => source.close()))
    await backend.dispose()
  },
)
