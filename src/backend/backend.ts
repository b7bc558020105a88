import type { MatrixType, OPS, OpName } from './ops.ts'

/** A place in a device buffer. */
export interface BufferRef {
  readonly buffer: DeviceBuffer
  readonly byteOffset: number
}

/** Memory of a backend. A buffer is itself a reference to its first byte. */
export interface DeviceBuffer extends BufferRef {
  readonly byteLength: number
  /** The place `byteOffset` bytes further on. Float and integer data must stay 4-byte aligned. */
  at(byteOffset: number): BufferRef
}

type ArgumentOf<Kind> = Kind extends 'buffer'
  ? BufferRef
  : Kind extends 'optional-buffer'
    ? BufferRef | undefined
    : Kind extends 'type'
      ? MatrixType
      : number

/** The arguments of an operation, typed from its row in `OPS`. */
export type OpArguments<Name extends OpName> = {
  readonly [Key in keyof (typeof OPS)[Name]['args']]: ArgumentOf<(typeof OPS)[Name]['args'][Key]>
}

/** Where and how a backend computes, for people and benchmarks. */
export interface BackendInfo {
  /** `reference`, `wasm-relaxed`, `wasm-baseline`, … */
  readonly name: string
  /** Compute threads. */
  readonly threads: number
}

/**
 * Computes operations in order. `enqueue` and `write` return at once and take effect in the order of the
 * calls; `flush` and `read` wait.
 */
export interface Backend {
  readonly info: BackendInfo
  /** Bytes in use by buffers now. */
  readonly allocatedBytes: number
  /** Memory that holds zeros or old data. Throws `backend/out-of-memory` with what was asked and what is left. */
  alloc(byteLength: number): DeviceBuffer
  free(buffer: DeviceBuffer): void
  /**
   * From now on `alloc` throws `backend/out-of-memory` where buffers would take more than `byteLength` bytes together,
   * gaps between them counted. What is allocated stays.
   */
  limitMemory(byteLength: number): void
  /** Bytes of a packed matrix of (rows, columns). */
  matrixByteLength(type: MatrixType, rows: number, columns: number): number
  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void
  /**
   * Enqueues what `enqueueAll(index)` enqueues. For the same `key` that must be the same operations, whose arguments
   * change by a constant step from each index to the next, up to below `limit`, on buffers that stay allocated: drivers
   * may then record it once instead of calling it again.
   */
  repeat(key: object, index: number, limit: number, enqueueAll: (index: number) => void): void
  /** Copies bytes to the device, after what was enqueued before. */
  write(target: BufferRef, bytes: Uint8Array): void
  /**
   * Device memory as bytes, to be filled without a copy; undefined where the device's memory can't be shared.
   * Only valid until the next `alloc`, and only while nothing enqueued uses the range.
   */
  view(ref: BufferRef, byteLength: number): Uint8Array<ArrayBufferLike> | undefined
  /**
   * Resolves when everything enqueued is done. An aborted signal stops the work between two operations and
   * rejects with an `AbortError`; buffers then hold partial results.
   */
  flush(signal?: AbortSignal): Promise<void>
  /** Flushes, then copies bytes out. */
  read(source: BufferRef, byteLength: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>>
  /** Gives back workers and memory. Safe to call twice; pending calls reject with `backend/disposed`. */
  dispose(): Promise<void>
}
