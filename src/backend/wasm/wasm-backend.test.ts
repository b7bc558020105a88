import { describe } from 'vitest'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import { runConformance } from '../conformance.case.ts'
import { createWasmBackend } from './wasm-backend.ts'

describe('wasm backend', () => {
  for (const options of [
    { build: 'relaxed', threads: 2 },
    { build: 'relaxed', threads: 1 },
    { build: 'baseline', threads: 2 },
    { build: 'baseline', threads: 1, shareMemory: false },
  ] as const) {
    const name = `${options.build}, ${options.threads} thread(s)${'shareMemory' in options ? ', unshared memory' : ''}`
    runConformance(name, () => createWasmBackend(createNodeWorkerHost(), options), {})
  }
})
