/** Saved conversations in a browser: files that a person picked, the origin's private file system, streams. */
import { crc32 } from '../../shared/checksum.ts'
import {
  createPlaceError,
  createStreamFile,
  openBytes,
  type SnapshotFiles,
} from '../../shared/snapshot-files.ts'

const PLACES = 'a file handle, a stream, bytes or a Blob'

export function createSnapshotFiles(): SnapshotFiles {
  return {
    checksum: crc32,
    async create(to) {
      const file = await createStreamFile(to)
      if (file) return file
      throw createPlaceError(to, PLACES)
    },
    async open(from) {
      const source = await openBytes(from)
      if (source) return source
      throw createPlaceError(from, PLACES)
    },
  }
}
