import type { EngineHost } from '../engine/load-model.ts'
import { createImageDecoder } from '../host/node/image-decoder.ts'
import { createSnapshotFiles } from '../host/node/snapshot-files.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { createFileHost } from './file-host.node.ts'

/** All that the engine needs of Node. */
export function createEngineHost(): EngineHost {
  return {
    workers: createNodeWorkerHost(),
    files: createFileHost(),
    images: createImageDecoder(),
    snapshots: createSnapshotFiles(),
  }
}
