import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'

const ALIGNMENT = 64

/** Names and sizes in bytes of the buffers that one part of a model needs while it runs. */
export type WorkspacePlan<Name extends string> = Readonly<Record<Name, number>>

/**
 * One allocation that the parts of a model share: the vision tower and the decoder never run at the same time, so
 * each lays its own buffers over the same memory.
 */
export class Workspace {
  readonly #backend: Backend
  readonly #buffer: DeviceBuffer

  /** Bytes on the device. */
  get byteLength(): number {
    return this.#buffer.byteLength
  }

  /** Room for the largest of `plans`. */
  constructor(backend: Backend, plans: readonly WorkspacePlan<string>[]) {
    this.#backend = backend
    this.#buffer = backend.alloc(Math.max(...plans.map(planByteLength)))
  }

  /** The places of a plan's buffers. */
  lay<Name extends string>(plan: WorkspacePlan<Name>): Record<Name, BufferRef> {
    let offset = 0
    const entries = Object.entries<number>(plan).map(([name, byteLength]): [string, BufferRef] => {
      const place = this.#buffer.at(offset)
      offset += align(byteLength)
      return [name, place]
    })
    return Object.fromEntries(entries) as Record<Name, BufferRef>
  }

  dispose(): void {
    this.#backend.free(this.#buffer)
  }
}

/** Bytes that a plan's buffers take together. */
export function planByteLength(plan: WorkspacePlan<string>): number {
  return Object.values(plan).reduce((sum, byteLength) => sum + align(byteLength), 0)
}

function align(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT
}
