import type { BufferRef } from '../../backend/backend.ts'

/** The place `byteLength` bytes further on. */
export function offset(ref: BufferRef, byteLength: number): BufferRef {
  return { buffer: ref.buffer, byteOffset: ref.byteOffset + byteLength }
}
