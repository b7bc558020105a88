/** Opening GGUF files: reads the header only, in growing pieces; tensor data stays where it is. */
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { MAX_GGUF_HEADER_BYTES } from '../limits.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { checkNoOverlap } from '../tensor-layout.ts'
import { MoreBytesNeeded } from './header-cursor.ts'
import { type GgufHeader, type GgufTensorEntry, parseGgufHeader } from './parse-header.ts'
import type { GgufValue, GgufValueType } from './value-types.ts'

export interface GgufFile {
  readonly version: 2 | 3
  /** Power of two that tensor offsets are multiples of. */
  readonly alignment: number
  readonly metadata: ReadonlyMap<string, GgufValue>
  /** The type that each metadata value has in the file. */
  readonly valueTypes: ReadonlyMap<string, GgufValueType>
  /** By name, in file order. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
  /** Where the tensor data starts, in bytes. */
  readonly dataOffset: number
  readonly source: ByteSource
}

// Holds the whole header of a projector, and of a text model up to a vocabulary of about 50,000.
const FIRST_READ_BYTES = 2 ** 20
const READ_GROWTH = 8

/**
 * Reads and checks the header. The source stays open and belongs to the caller.
 *
 * @throws EngineError `format/…` for anything that is not a sound GGUF file, `file/…` when reading fails.
 */
export async function loadGguf(source: ByteSource): Promise<GgufFile> {
  const { tensors: entries, ...header } = await loadGgufHeader(source)
  const tensors = new Map<string, TensorInfo>()
  for (const entry of entries.values()) tensors.set(entry.name, placeTensor(entry, header.dataOffset, source))
  checkNoOverlap(source.name, tensors.values())
  return { ...header, tensors, source }
}

/**
 * The header alone; whether the tensors lie inside the file is not looked at.
 *
 * @param onDuplicate Is told of names that appear twice, of which the first counts. Default: they are thrown.
 * @throws EngineError as `loadGguf`.
 */
export async function loadGgufHeader(
  source: ByteSource,
  onDuplicate?: (error: EngineError) => void,
): Promise<GgufHeader> {
  let byteLength = Math.min(FIRST_READ_BYTES, source.byteLength)
  let bytes = await readBytes(source, 0, byteLength)
  for (;;) {
    try {
      return parseGgufHeader(source.name, bytes, source.byteLength, onDuplicate)
    } catch (error) {
      if (!(error instanceof MoreBytesNeeded)) throw error
      if (error.byteLength > MAX_GGUF_HEADER_BYTES) throw headerTooLong(source.name, error.byteLength)
      const grown = Math.max(error.byteLength, byteLength * READ_GROWTH)
      byteLength = Math.min(grown, MAX_GGUF_HEADER_BYTES, source.byteLength)
    }
    const longer = new Uint8Array(byteLength)
    longer.set(bytes)
    await source.readInto(longer.subarray(bytes.byteLength), bytes.byteLength)
    bytes = longer
  }
}

function placeTensor(entry: GgufTensorEntry, dataOffset: number, source: ByteSource): TensorInfo {
  const { name, type, shape, byteLength, relativeOffset } = entry
  const byteOffset = dataOffset + relativeOffset
  const end = byteOffset + byteLength
  if (end > source.byteLength) {
    throw new EngineError('format/tensor-out-of-bounds', {
      message: `${source.name}: tensor "${name}" ends at byte ${end}, but the file has ${source.byteLength} bytes.`,
      hint: 'The download looks incomplete; fetch the file again.',
    })
  }
  return { name, type, shape, byteOffset, byteLength, source }
}

function headerTooLong(fileName: string, byteLength: number): EngineError {
  return new EngineError('format/limit-exceeded', {
    message: `${fileName}: the header goes on past byte ${byteLength}; expected at most ${MAX_GGUF_HEADER_BYTES} bytes.`,
    hint: 'The file is damaged; fetch it again.',
  })
}
