/** Opening safetensors files: reads the header only; tensor data stays where it is. */
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { CONTENT_KIND_BYTES, createWrongKindError, detectContentKind } from '../content-kind.ts'
import { MAX_SAFETENSORS_HEADER_BYTES } from '../limits.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { parseSafetensorsHeader } from './parse-header.ts'

/** The header length in front of everything. */
const LENGTH_BYTES = 8

/**
 * Reads and checks the header of one file. The source stays open and belongs to the caller.
 *
 * @returns Tensors by name, in the order of their data.
 * @throws EngineError `format/…` for anything that is not a sound safetensors file, `file/…` when reading fails.
 */
export async function loadSafetensors(source: ByteSource): Promise<Map<string, TensorInfo>> {
  const { header, dataOffset } = await loadSafetensorsHeader(source)
  const tensors = new Map<string, TensorInfo>()
  for (const entry of parseSafetensorsHeader(source.name, header, source.byteLength - dataOffset)) {
    const { name, type, shape, relativeOffset, byteLength } = entry
    tensors.set(name, { name, type, shape, byteOffset: dataOffset + relativeOffset, byteLength, source })
  }
  return tensors
}

/**
 * The text of the header, unchecked, and where the data begins.
 *
 * @throws EngineError `format/…` for a file of another kind or one that ends inside the header.
 */
export async function loadSafetensorsHeader(
  source: ByteSource,
): Promise<{ header: Uint8Array; dataOffset: number }> {
  const byteLength = await loadHeaderLength(source)
  const header = await readBytes(source, LENGTH_BYTES, byteLength)
  return { header, dataOffset: LENGTH_BYTES + byteLength }
}

async function loadHeaderLength(source: ByteSource): Promise<number> {
  const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
  const kind = detectContentKind(head)
  if (kind === 'unknown' && head.byteLength <= LENGTH_BYTES) throw truncated(source, LENGTH_BYTES + 1)
  if (kind !== 'safetensors') throw createWrongKindError(source.name, 'a safetensors file', head)
  const view = new DataView(head.buffer)
  const byteLength = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32
  if (byteLength > MAX_SAFETENSORS_HEADER_BYTES) {
    throw new EngineError('format/limit-exceeded', {
      message: `${source.name}: the header length is ${byteLength} bytes; expected at most ${MAX_SAFETENSORS_HEADER_BYTES}.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  if (LENGTH_BYTES + byteLength > source.byteLength) throw truncated(source, LENGTH_BYTES + byteLength)
  return byteLength
}

function truncated(source: ByteSource, needed: number): EngineError {
  return new EngineError('format/truncated', {
    message: `${source.name}: the header ends at byte ${needed}, but the file ends at byte ${source.byteLength}.`,
    hint: 'The download looks incomplete; fetch the file again.',
  })
}
