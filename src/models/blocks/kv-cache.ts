import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import type { DecoderConfig } from '../model-config.ts'

/** How keys and values are kept. F32 goes with float32 weights; F16 halves it at a loss far below that of int8 weights. */
export type KvType = 'F32' | 'F16'

const FIRST_CAPACITY = 256

/** Bytes of a cache that lie together. */
export interface CacheRange {
  readonly ref: BufferRef
  readonly byteLength: number
}

/** Keys and values of one conversation, per layer (position, kvHeads * headDim). Grows by doubling. */
export class KvCache {
  readonly type: KvType
  readonly #backend: Backend
  readonly #layers: { k: DeviceBuffer; v: DeviceBuffer }[] = []
  readonly #config: DecoderConfig
  #capacity = 0
  /** A new object whenever the buffers change, to tell what was recorded on others. */
  #layout: object = {}

  constructor(backend: Backend, config: DecoderConfig, type: KvType) {
    this.type = type
    this.#backend = backend
    this.#config = config
  }

  /** Bytes on the device. */
  get byteLength(): number {
    return this.#layers.reduce((sum, { k, v }) => sum + k.byteLength + v.byteLength, 0)
  }

  /** Bytes of one position over all layers. */
  static bytesPerToken(config: DecoderConfig, type: KvType): number {
    return config.layers * 2 * config.kvHeads * config.headDim * (type === 'F32' ? 4 : 2)
  }

  /** Makes room for `positions`, keeping the first `used`. Waits for the copies before the old buffers are freed. */
  async reserve(positions: number, used: number): Promise<void> {
    if (positions <= this.#capacity) return
    const capacity = Math.min(
      Math.max(positions, this.#capacity * 2, FIRST_CAPACITY),
      Math.max(positions, this.#config.contextLength),
    )
    for (let layer = 0; layer < this.#config.layers; layer++) {
      const old = this.#layers[layer]
      this.#layers[layer] = {
        k: await this.#enlarge(old?.k, capacity, used),
        v: await this.#enlarge(old?.v, capacity, used),
      }
    }
    this.#capacity = capacity
    this.#layout = {}
  }

  /** Positions there is room for. */
  get capacity(): number {
    return this.#capacity
  }

  /** Stays the same object as long as the buffers do. */
  get layout(): object {
    return this.#layout
  }

  /** Keys and values of a layer from `position` on. */
  at(layer: number, position: number): { k: BufferRef; v: BufferRef } {
    const { k, v } = this.#layers[layer] as { k: DeviceBuffer; v: DeviceBuffer }
    return { k: k.at(position * this.#rowBytes), v: v.at(position * this.#rowBytes) }
  }

  /**
   * Where keys and values of the first `positions` lie. Their bytes, one range after the other, depend on the
   * configuration and the type only, never on how much room there is, so that another cache can take them over.
   */
  ranges(positions: number): CacheRange[] {
    const byteLength = positions * this.#rowBytes
    return this.#layers.flatMap(({ k, v }) => [k, v].map((ref) => ({ ref, byteLength })))
  }

  dispose(): void {
    for (const { k, v } of this.#layers.splice(0)) {
      this.#backend.free(k)
      this.#backend.free(v)
    }
    this.#capacity = 0
  }

  get #rowBytes(): number {
    return this.#config.kvHeads * this.#config.headDim * (this.type === 'F32' ? 4 : 2)
  }

  async #enlarge(old: DeviceBuffer | undefined, capacity: number, used: number): Promise<DeviceBuffer> {
    const fresh = this.#backend.alloc(capacity * this.#rowBytes)
    if (!old) return fresh
    if (used > 0) {
      this.#backend.enqueue('copyRows', { source: old, out: fresh, rows: used, columns: this.#rowBytes / 4 })
      await this.#backend.flush()
    }
    this.#backend.free(old)
    return fresh
  }
}
