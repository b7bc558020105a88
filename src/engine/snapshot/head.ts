/**
 * The first 32 bytes of a snapshot, little-endian. They and the text behind them keep their form in all versions, so that
 * any version recovers the text of a conversation:
 *
 *     0  8  magic bytes
 *     8  4  version of everything behind the text
 *    12  4  bytes of the text, which begins at byte 32
 *    16  4  CRC-32 of the text
 *    20  4  bytes of the state, which follows the text
 *    24  4  CRC-32 of the state
 *    28  4  CRC-32 of bytes 0 to 27
 */
import type { ByteSource } from '../../shared/byte-source.ts'
import { readBytes } from '../../shared/byte-source.ts'
import type { Checksum } from '../../shared/checksum.ts'
import { EngineError } from '../../shared/errors.ts'

/** Raised when what is stored changes, or what the engine computes from the same model. */
export const SNAPSHOT_VERSION = 1

/** No text file begins like this, and a transfer that changes line ends or drops high bits shows in it, as with PNG. */
const MAGIC = Uint8Array.of(0x89, 0x4f, 0x4e, 0x53, 0x47, 0x0d, 0x0a, 0x1a)
export const HEAD_BYTES = 32

/** A conversation of a million tokens has about 5 MB of text. */
export const MAX_TEXT_BYTES = 2 ** 26
/** Token ids of a million tokens take 7 MB. */
export const MAX_STATE_BYTES = 2 ** 25

export interface SnapshotHead {
  readonly version: number
  readonly textByteLength: number
  readonly textChecksum: number
  readonly stateByteLength: number
  readonly stateChecksum: number
  /** Whether these fields are as they were written. */
  readonly isIntact: boolean
}

export function encodeHead(text: Uint8Array, state: Uint8Array, checksum: Checksum): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES)
  const view = new DataView(head.buffer)
  head.set(MAGIC)
  const fields = [SNAPSHOT_VERSION, text.length, checksum(text), state.length, checksum(state)]
  for (const [index, field] of fields.entries()) view.setUint32(8 + index * 4, field, true)
  view.setUint32(28, checksum(head.subarray(0, 28)), true)
  return head
}

/** Throws `snapshot/not-a-snapshot` or `snapshot/truncated`. */
export async function loadHead(source: ByteSource, checksum: Checksum): Promise<SnapshotHead> {
  const head = await readBytes(source, 0, Math.min(HEAD_BYTES, source.byteLength))
  if (head.length === 0 || head.some((byte, index) => index < MAGIC.length && byte !== MAGIC[index])) {
    throw new EngineError('snapshot/not-a-snapshot', {
      message: `${source.name}: expected a saved conversation, found ${head.length === 0 ? 'an empty file' : 'another kind of file'}.`,
      hint: 'Give a file that chat.save or onsight chat --save wrote.',
    })
  }
  if (head.length < HEAD_BYTES) throw createCutError(source, HEAD_BYTES)
  const view = new DataView(head.buffer)
  const field = (index: number): number => view.getUint32(8 + index * 4, true)
  return {
    version: field(0),
    textByteLength: field(1),
    textChecksum: field(2),
    stateByteLength: field(3),
    stateChecksum: field(4),
    isIntact: field(5) === checksum(head.subarray(0, 28)),
  }
}

export function createCutError(source: ByteSource, expected: number): EngineError {
  return new EngineError('snapshot/truncated', {
    message: `${source.name}: the snapshot is cut off: expected ${expected} bytes, found ${source.byteLength}.`,
    hint: TEXT_HINT,
  })
}

/** @param part What is not as it was written. */
export function createDamageError(source: ByteSource, part: string): EngineError {
  return new EngineError('snapshot/damaged', {
    message: `${source.name}: the snapshot is damaged: ${part}.`,
    hint: TEXT_HINT,
  })
}

export const TEXT_HINT = 'What was said can still be read: readSnapshotText, or onsight chat --resume.'
