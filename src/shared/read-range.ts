/** Checks and errors that every byte source shares. */
import type { ByteSource } from './byte-source.ts'
import { EngineError } from './errors.ts'

/** Throws `file/truncated` unless the whole range lies inside the source. */
export function checkReadRange(
  source: Pick<ByteSource, 'name' | 'byteLength'>,
  byteOffset: number,
  byteLength: number,
): void {
  if (Number.isSafeInteger(byteOffset) && byteOffset >= 0 && byteOffset + byteLength <= source.byteLength)
    return
  throw createTruncatedError(source.name, byteOffset, byteLength, source.byteLength)
}

export function createTruncatedError(
  name: string,
  byteOffset: number,
  byteLength: number,
  available: number,
): EngineError {
  return new EngineError('file/truncated', {
    message: `${name}: expected ${byteLength} bytes at byte ${byteOffset}, but the file has ${available} bytes.`,
    hint: 'The file is incomplete or was changed while it was read; fetch it again.',
  })
}

export function createClosedError(name: string): EngineError {
  return new EngineError('file/closed', { message: `${name}: read after the source was closed.` })
}
