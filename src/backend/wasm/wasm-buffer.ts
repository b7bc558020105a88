import { EngineError } from '../../shared/errors.ts'
import type { BufferRef, DeviceBuffer } from '../backend.ts'
import { checkRange } from '../check-arguments.ts'

/** A range of the kernels' linear memory. */
export class WasmBuffer implements DeviceBuffer {
  readonly byteLength: number
  readonly byteOffset = 0
  /** -1 once freed. */
  address: number

  constructor(address: number, byteLength: number) {
    this.address = address
    this.byteLength = byteLength
  }

  get buffer(): this {
    return this
  }

  at(byteOffset: number): BufferRef {
    if (!Number.isInteger(byteOffset) || byteOffset < 0) {
      throw new EngineError('backend/out-of-bounds', {
        message: `A place in a buffer must be a byte from 0 to ${this.byteLength}, found ${byteOffset}.`,
      })
    }
    const ref = { buffer: this, byteOffset }
    checkRange('at', ref, 0)
    return ref
  }
}

/** Where `ref` lies in linear memory. */
export function addressOf(ref: BufferRef): number {
  const { buffer } = ref
  if (!(buffer instanceof WasmBuffer) || buffer.address < 0) {
    throw new EngineError('backend/freed-buffer', {
      message: 'A buffer was used that was freed or belongs to another backend.',
    })
  }
  return buffer.address + ref.byteOffset
}
