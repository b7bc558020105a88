import { EngineError } from '../../shared/errors.ts'

/** A cache line, and a multiple of every vector load. */
const ALIGNMENT = 64
const PAGE_BYTES = 65536
/** 32-bit WebAssembly memory ends here. */
const MAXIMUM_BYTES = 65536 * PAGE_BYTES

interface Range {
  address: number
  byteLength: number
}

/**
 * Hands out addresses of a linear memory: first fit over a list of free ranges sorted by address, neighbours merged.
 * Models allocate a few hundred large buffers once, so a list is fast enough.
 */
export class MemoryArena {
  readonly #free: Range[] = []
  readonly #used = new Map<number, number>()
  readonly #grow: (pages: number) => void
  #end: number
  /** Where the memory must end. */
  #limit = MAXIMUM_BYTES
  #allocatedBytes = 0

  /** `start`: first free address. `end`: current size of the memory. `grow` adds pages or throws. */
  constructor(start: number, end: number, grow: (pages: number) => void) {
    this.#end = end
    this.#grow = grow
    const address = align(start)
    if (end > address) this.#free.push({ address, byteLength: end - address })
  }

  get allocatedBytes(): number {
    return this.#allocatedBytes
  }

  /** The memory ends at `end` bytes at most, or where it ends now. */
  limit(end: number): void {
    this.#limit = Math.max(this.#end, Math.min(end, MAXIMUM_BYTES))
  }

  alloc(byteLength: number): number {
    const needed = align(Math.max(byteLength, 1))
    let index = this.#free.findIndex((range) => range.byteLength >= needed)
    if (index < 0) {
      this.#extend(needed)
      index = this.#free.length - 1
    }
    const range = this.#free[index] as Range
    const { address } = range
    if (range.byteLength === needed) this.#free.splice(index, 1)
    else {
      range.address += needed
      range.byteLength -= needed
    }
    this.#used.set(address, needed)
    this.#allocatedBytes += needed
    return address
  }

  free(address: number): void {
    const byteLength = this.#used.get(address)
    if (byteLength === undefined) return
    this.#used.delete(address)
    this.#allocatedBytes -= byteLength
    let index = this.#free.findIndex((range) => range.address > address)
    if (index < 0) index = this.#free.length
    this.#free.splice(index, 0, { address, byteLength })
    this.#mergeWithNext(index)
    if (index > 0) this.#mergeWithNext(index - 1)
  }

  #mergeWithNext(index: number): void {
    const range = this.#free[index]
    const next = this.#free[index + 1]
    if (range && next && range.address + range.byteLength === next.address) {
      range.byteLength += next.byteLength
      this.#free.splice(index + 1, 1)
    }
  }

  #limitError(needed: number): EngineError {
    const isOwn = this.#limit === MAXIMUM_BYTES
    const end = isOwn
      ? 'a WebAssembly memory ends at 4096 MB'
      : `the memory limit leaves ${megabytes(this.#limit)}`
    return new EngineError('backend/out-of-memory', {
      message: `The engine needs ${megabytes(needed)} more memory; ${megabytes(this.#allocatedBytes)} are in use and ${end}.`,
      hint: isOwn ? SMALLER : 'Close a conversation, or load the model with a larger memory limit.',
    })
  }

  #extend(needed: number): void {
    const last = this.#free.at(-1)
    const tail = last && last.address + last.byteLength === this.#end ? last : undefined
    const missing = needed - (tail?.byteLength ?? 0)
    const pages = Math.ceil(missing / PAGE_BYTES)
    if (this.#end + pages * PAGE_BYTES > this.#limit) throw this.#limitError(needed)
    try {
      this.#grow(pages)
    } catch (cause) {
      throw new EngineError('backend/out-of-memory', {
        message: `The engine needs ${megabytes(needed)} more memory; ${megabytes(this.#allocatedBytes)} are in use and the system gave no more.`,
        hint: SMALLER,
        cause,
      })
    }
    if (tail) tail.byteLength += pages * PAGE_BYTES
    else this.#free.push({ address: this.#end, byteLength: pages * PAGE_BYTES })
    this.#end += pages * PAGE_BYTES
  }
}

const SMALLER = 'Use a smaller model, a lower precision (--precision q4), or close other programs.'

function align(value: number): number {
  return Math.ceil(value / ALIGNMENT) * ALIGNMENT
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
