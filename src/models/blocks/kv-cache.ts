import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { type CacheType, cacheRowByteLength } from '../../backend/cache-rows.ts'
import type { DecoderConfig } from '../model-config.ts'

/**
 * How keys and values are kept. F32 goes with float32 weights; F16 halves it at a loss far below that of int8 weights;
 * Q8_0 halves that again (docs/decisions/2026-11-30-key-value-cache-8-bits.md says what it costs).
 */
export type KvType = CacheType

/** Positions by which a cache grows: about a long answer. Room that is not used is less than this. */
const BLOCK = 256
/** Unused room that is given back, so that an edited last turn does not shrink the cache only to grow it again. */
const SPARE = 4 * BLOCK

/** Bytes of a cache that lie together. */
export interface CacheRange {
  readonly ref: BufferRef
  readonly byteLength: number
}

/** What a cache needs to know of a decoder. */
export type CacheSizes = Pick<DecoderConfig, 'layers' | 'kvHeads' | 'headDim' | 'contextLength'>

interface CacheLayer {
  readonly k: DeviceBuffer // (kvHeads, capacity, headDim)
  readonly v: DeviceBuffer // (kvHeads, capacity, headDim)
  readonly capacity: number
}

/** Where the rows of a layer lie. */
export interface CachePlace {
  readonly k: BufferRef
  readonly v: BufferRef
  /** Rows from one head to the next. */
  readonly headStride: number
}

/**
 * Keys and values of one conversation. Each head's rows lie together, so that attention reads one stream: a processor
 * fetches neighbouring lines in advance, which for rows of all heads would be those of other heads.
 */
export class KvCache {
  readonly type: KvType
  readonly #backend: Backend
  readonly #layers: CacheLayer[] = []
  readonly #config: CacheSizes
  /** Bytes of one head's row. */
  readonly #rowBytes: number
  /** A new object whenever the buffers change, to tell what was recorded on others. */
  #layout: object = {}

  constructor(backend: Backend, config: CacheSizes, type: KvType) {
    this.type = type
    this.#backend = backend
    this.#config = config
    this.#rowBytes = cacheRowByteLength(type, config.headDim)
  }

  /** Bytes on the device. */
  get byteLength(): number {
    return this.#layers.reduce((sum, { k, v }) => sum + k.byteLength + v.byteLength, 0)
  }

  /** Bytes of one position over all layers. */
  static bytesPerToken(config: CacheSizes, type: KvType): number {
    return config.layers * 2 * config.kvHeads * cacheRowByteLength(type, config.headDim)
  }

  /** Positions for which memory is taken to hold `positions`. */
  static capacityFor(config: CacheSizes, positions: number): number {
    return Math.min(Math.ceil(positions / BLOCK) * BLOCK, Math.max(positions, config.contextLength))
  }

  /**
   * Makes room for `positions`, keeping the first `used`, and gives back room far beyond them. One layer at a time is
   * copied, so that no more than that exists twice.
   */
  async reserve(positions: number, used: number): Promise<void> {
    const wanted = KvCache.capacityFor(this.#config, positions)
    const { capacity } = this
    if (positions <= capacity && (capacity - wanted < SPARE || capacity < 2 * wanted)) return
    for (let index = 0; index < this.#config.layers; index++) {
      const old = this.#layers[index]
      if (old?.capacity === wanted) continue
      this.#layers[index] = await this.#moveLayer(old, wanted, used)
      this.#layout = {}
    }
  }

  /** Positions there is room for. */
  get capacity(): number {
    const { layers } = this.#config
    if (this.#layers.length < layers) return 0
    return this.#layers.reduce((least, { capacity }) => Math.min(least, capacity), Number.POSITIVE_INFINITY)
  }

  /** Stays the same object as long as the buffers do. */
  get layout(): object {
    return this.#layout
  }

  /** Keys and values of a layer from `position` on, of the first head. */
  at(layer: number, position: number): CachePlace {
    const { k, v, capacity } = this.#layers[layer] as CacheLayer
    const byteOffset = position * this.#rowBytes
    return { k: k.at(byteOffset), v: v.at(byteOffset), headStride: capacity }
  }

  /**
   * Where keys and values of the first `positions` lie. Their bytes, one range after the other, depend on the
   * configuration and the type only, never on how much room there is, so that another cache can take them over.
   */
  ranges(positions: number): CacheRange[] {
    return this.#layers.flatMap(({ k, v, capacity }) =>
      [k, v].flatMap((buffer) => this.#heads(buffer, capacity, positions)),
    )
  }

  dispose(): void {
    for (const layer of this.#layers.splice(0)) this.#free(layer)
  }

  async #moveLayer(old: CacheLayer | undefined, capacity: number, used: number): Promise<CacheLayer> {
    const byteLength = this.#config.kvHeads * capacity * this.#rowBytes
    const k = this.#backend.alloc(byteLength)
    let v: DeviceBuffer
    try {
      v = this.#backend.alloc(byteLength)
    } catch (error) {
      this.#backend.free(k)
      throw error
    }
    const layer = { k, v, capacity }
    if (!old) return layer
    if (used > 0) {
      this.#copyHeads(old.k, old.capacity, k, capacity, used)
      this.#copyHeads(old.v, old.capacity, v, capacity, used)
      await this.#backend.flush()
    }
    this.#free(old)
    return layer
  }

  #copyHeads(
    from: DeviceBuffer,
    fromCapacity: number,
    to: DeviceBuffer,
    toCapacity: number,
    used: number,
  ): void {
    const targets = this.#heads(to, toCapacity, used)
    for (const [head, { ref }] of this.#heads(from, fromCapacity, used).entries()) {
      const out = (targets[head] as CacheRange).ref
      this.#backend.enqueue('copyRows', { source: ref, out, rows: used, columns: this.#rowBytes / 4 })
    }
  }

  /** The first `positions` rows of each head. */
  #heads(buffer: DeviceBuffer, capacity: number, positions: number): CacheRange[] {
    return Array.from({ length: this.#config.kvHeads }, (_, head) => ({
      ref: buffer.at(head * capacity * this.#rowBytes),
      byteLength: positions * this.#rowBytes,
    }))
  }

  #free({ k, v }: CacheLayer): void {
    this.#backend.free(k)
    this.#backend.free(v)
  }
}
