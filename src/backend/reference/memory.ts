/** Device memory of the reference backend: one `ArrayBuffer` for each buffer, and typed views of its ranges. */
import { EngineError } from '../../shared/errors.ts'
import type { BufferRef, DeviceBuffer } from '../backend.ts'
import { checkRange } from '../check-arguments.ts'

export class ReferenceBuffer implements DeviceBuffer {
  readonly buffer: DeviceBuffer = this
  readonly byteOffset = 0
  readonly byteLength: number
  readonly bytes: Uint8Array<ArrayBuffer>

  constructor(byteLength: number) {
    this.byteLength = byteLength
    this.bytes = new Uint8Array(byteLength)
  }

  at(byteOffset: number): BufferRef {
    const ref = { buffer: this, byteOffset }
    if (!Number.isInteger(byteOffset) || byteOffset < 0) {
      throw new EngineError('backend/out-of-bounds', {
        message: `A place in a buffer must be a byte from 0 to ${this.byteLength}, found ${byteOffset}.`,
      })
    }
    checkRange('at', ref, 0)
    return ref
  }
}

/** The `byteLength` bytes from `ref` on. */
export function bytesAt(ref: BufferRef, byteLength: number): Uint8Array<ArrayBuffer> {
  if (!(ref.buffer instanceof ReferenceBuffer)) {
    throw new EngineError('backend/foreign-buffer', {
      message: 'Expected a buffer of the reference backend, found one of another backend.',
    })
  }
  checkRange('view', ref, byteLength)
  return ref.buffer.bytes.subarray(ref.byteOffset, ref.byteOffset + byteLength)
}

/** The `length` floats from `ref` on. */
export function floatsAt(ref: BufferRef, length: number): Float32Array<ArrayBuffer> {
  const bytes = bytesAt(ref, length * 4)
  return new Float32Array(bytes.buffer, bytes.byteOffset, length)
}

/** The `length` 32-bit integers from `ref` on. */
export function integersAt(ref: BufferRef, length: number): Int32Array<ArrayBuffer> {
  const bytes = bytesAt(ref, length * 4)
  return new Int32Array(bytes.buffer, bytes.byteOffset, length)
}
