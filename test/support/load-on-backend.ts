/** Loads a model as `loadModel` does, but on a backend and with pass sizes that the test chooses. */
import type { Backend } from '../../src/backend/backend.ts'
import { type AssembleOptions, assembleModel, prepareModel } from '../../src/engine/assemble-model.ts'
import type { LoadedModel } from '../../src/engine/loaded-model.ts'
import { openCheckpoint } from '../../src/engine/open-checkpoint.ts'
import { createNodeFileHost } from '../../src/host/node/file-host.ts'
import { createImageDecoder } from '../../src/host/node/image-decoder.ts'
import { createSnapshotFiles } from '../../src/host/node/snapshot-files.ts'

export async function loadOnBackend(
  backend: Backend,
  path: string,
  options: AssembleOptions = {},
): Promise<LoadedModel> {
  const files = createNodeFileHost()
  const opened = await openCheckpoint(files, path)
  try {
    const prepared = await prepareModel(opened)
    return await assembleModel(
      prepared,
      backend,
      { files, images: createImageDecoder(), snapshots: createSnapshotFiles() },
      options,
    )
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}
