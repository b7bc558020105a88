/**
 * The long part of a snapshot: bytes of the device in pieces of a megabyte, each followed by the CRC-32 of everything up
 * to its end. A piece is checked before it is used, and one that stands in another's place is found too.
 */
import type { Backend } from '../../backend/backend.ts'
import type { PassQueue } from '../../generation/pass-queue.ts'
import type { CacheRange } from '../../models/blocks/kv-cache.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import type { Checksum } from '../../shared/checksum.ts'
import type { PendingFile } from '../../shared/pending-file.ts'
import { createDamageError } from './head.ts'

/** Stays in the processor's cache between copying and adding up. */
export const PIECE_BYTES = 2 ** 20
const CHECKSUM_BYTES = 4

export interface Device {
  readonly backend: Backend
  /** Other conversations compute between two pieces. */
  readonly queue: PassQueue
}

/** Bytes in the file of `byteLength` bytes of the device. */
export function storedByteLength(byteLength: number): number {
  return byteLength + Math.ceil(byteLength / PIECE_BYTES) * CHECKSUM_BYTES
}

export async function writePieces(
  file: PendingFile,
  ranges: readonly CacheRange[],
  { backend, queue }: Device,
  checksum: Checksum,
  signal?: AbortSignal,
): Promise<void> {
  const stage = new Uint8Array(PIECE_BYTES + CHECKSUM_BYTES)
  let sum = 0
  for (const parts of cutPieces(ranges)) {
    throwIfAborted(signal)
    let length = 0
    await queue.run(async () => {
      for (const { ref, byteLength } of parts) {
        const bytes = backend.view(ref, byteLength) ?? (await backend.read(ref, byteLength))
        stage.set(bytes, length)
        length += byteLength
      }
    })
    sum = checksum(stage.subarray(0, length), sum)
    new DataView(stage.buffer).setUint32(length, sum, true)
    await file.write(stage.subarray(0, length + CHECKSUM_BYTES))
  }
}

/** Fills `ranges`. Throws `snapshot/damaged` at the first piece that is not as it was written. */
export async function readPieces(
  source: ByteSource,
  byteOffset: number,
  ranges: readonly CacheRange[],
  { backend, queue }: Device,
  checksum: Checksum,
  signal?: AbortSignal,
): Promise<void> {
  const stage = new Uint8Array(PIECE_BYTES + CHECKSUM_BYTES)
  let at = byteOffset
  let sum = 0
  for (const parts of cutPieces(ranges)) {
    throwIfAborted(signal)
    const length = parts.reduce((total, { byteLength }) => total + byteLength, 0)
    await source.readInto(stage.subarray(0, length + CHECKSUM_BYTES), at)
    sum = checksum(stage.subarray(0, length), sum)
    if (new DataView(stage.buffer).getUint32(length, true) !== sum) {
      throw createDamageError(source, `the bytes from ${at} to ${at + length} do not match their checksum`)
    }
    at += length + CHECKSUM_BYTES
    await queue.run(async () => {
      let from = 0
      for (const { ref, byteLength } of parts) {
        backend.write(ref, stage.subarray(from, from + byteLength))
        from += byteLength
      }
    })
  }
}

/** The ranges one after the other, cut every megabyte. */
function* cutPieces(ranges: readonly CacheRange[]): Generator<CacheRange[]> {
  let piece: CacheRange[] = []
  let room = PIECE_BYTES
  for (const { ref, byteLength } of ranges) {
    for (let from = 0; from < byteLength; ) {
      const length = Math.min(room, byteLength - from)
      piece.push({ ref: { buffer: ref.buffer, byteOffset: ref.byteOffset + from }, byteLength: length })
      from += length
      room -= length
      if (room > 0) continue
      yield piece
      piece = []
      room = PIECE_BYTES
    }
  }
  if (piece.length > 0) yield piece
}
