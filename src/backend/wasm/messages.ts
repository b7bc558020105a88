/** Everything that is said between the WASM driver and its workers. */

export interface StartMessage {
  readonly type: 'start'
  readonly module: WebAssembly.Module
  /** Shared memory; undefined when the one worker makes its own. */
  readonly memory: WebAssembly.Memory | undefined
  /** Size of that memory at first, in pages of 64 KiB. */
  readonly pages: number
  /** Thread 0 leads: it receives command lists and wakes the others. */
  readonly thread: number
  readonly threads: number
  /** This thread's scratch memory. */
  readonly scratch: number
  /** Where the leader puts command lists. */
  readonly commands: number
}

export type ToWorker =
  | StartMessage
  | { readonly type: 'run'; readonly id: number; readonly commands: Int32Array<ArrayBuffer> }
  | { readonly type: 'write'; readonly address: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'read'; readonly id: number; readonly address: number; readonly byteLength: number }
  | { readonly type: 'grow'; readonly pages: number }

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: number; readonly cancelled: boolean }
  | { readonly type: 'bytes'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly thread: number; readonly message: string }
