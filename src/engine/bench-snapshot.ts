/** Writing and reading the keys and values of a conversation, without a disk. */
import { PassQueue } from '../generation/pass-queue.ts'
import { TokenSession } from '../generation/token-session.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { createBlobSource } from '../shared/blob-source.ts'
import { BlobFile, type SnapshotFiles } from '../shared/snapshot-files.ts'
import { type Stopwatch, syntheticToken } from './bench-speeds.ts'
import { readPieces, writePieces } from './snapshot/pieces.ts'

const TOKENS = 512

export async function measureSnapshot(
  model: LanguageModel,
  { checksum }: SnapshotFiles,
  watch: Stopwatch,
): Promise<Record<string, number>> {
  const { decoder } = model.config
  const tokens = Math.min(TOKENS, Math.floor(decoder.contextLength / 2)) // two conversations
  const ids = Array.from({ length: tokens }, (_, position) => syntheticToken(position, decoder))
  const device = { backend: model.backend, queue: new PassQueue() }
  const session = new TokenSession(model, device.queue)
  let restored = new TokenSession(model, device.queue)
  try {
    for await (const _ of session.prefill({ ids, images: [] }, watch.signal)) {
      // until all is computed
    }
    let file = new BlobFile()
    const saveSeconds = await watch.best(async () => {
      file = new BlobFile()
      await writePieces(file, session.ranges(tokens), device, checksum, watch.signal)
    })
    const source = createBlobSource('snapshot', file.blob)
    const restoreSeconds = await watch.best(
      () =>
        restored.adopt({ ids, images: [] }, (ranges) =>
          readPieces(source, 0, ranges, device, checksum, watch.signal),
        ),
      async () => {
        restored.dispose()
        restored = new TokenSession(model, device.queue)
      },
    )
    return {
      [`snapshotSaveMs${tokens}`]: saveSeconds * 1000,
      [`snapshotRestoreMs${tokens}`]: restoreSeconds * 1000,
      [`snapshotMegabytes${tokens}`]: source.byteLength / 1e6,
    }
  } finally {
    session.dispose()
    restored.dispose()
  }
}
