import { describe, expect, test } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import { createReferenceBackend } from '../../backend/reference/reference-backend.ts'
import { EngineError } from '../../shared/errors.ts'
import type { DecoderConfig } from '../model-config.ts'
import { KvCache } from './kv-cache.ts'

const CONFIG = { layers: 3, kvHeads: 2, headDim: 4, contextLength: 2048 } as DecoderConfig

async function readAll(
  backend: ReturnType<typeof createReferenceBackend>,
  cache: KvCache,
  positions: number,
) {
  const parts = []
  for (const { ref, byteLength } of cache.ranges(positions)) parts.push(await backend.read(ref, byteLength))
  return parts
}

test.each(['F16', 'F32', 'Q8_0'] as const)(
  'ranges of %s say the same whatever the capacity',
  async (type) => {
    const backend = createReferenceBackend()
    const small = new KvCache(backend, CONFIG, type)
    const large = new KvCache(backend, CONFIG, type)
    await small.reserve(5, 0)
    await large.reserve(700, 0)
    const ranges = small.ranges(5)
    const total = ranges.reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(total).toBe(5 * KvCache.bytesPerToken(CONFIG, type))
    for (const [index, { ref, byteLength }] of ranges.entries()) {
      const bytes = Uint8Array.from({ length: byteLength }, (_, at) => (at * 7 + index) % 251)
      backend.write(ref, bytes)
      backend.write((large.ranges(5)[index] as { ref: typeof ref }).ref, bytes)
    }
    expect(await readAll(backend, large, 5)).toEqual(await readAll(backend, small, 5))
    // What was written stands where positions are looked up, and stays when the cache grows.
    const before = await readAll(backend, small, 5)
    await small.reserve(600, 5)
    expect(await readAll(backend, small, 5)).toEqual(before)
    await backend.dispose()
  },
)

test('a cache that holds nothing has no bytes', async () => {
  const backend = createReferenceBackend()
  const cache = new KvCache(backend, CONFIG, 'F16')
  expect(cache.ranges(0).reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(0)
  await backend.dispose()
})

describe('room', () => {
  /** What is allocated beyond the cache at the worst moment of `action`. */
  async function peakBeyond(backend: Backend, cache: KvCache, action: () => Promise<void>): Promise<number> {
    let peak = 0
    const alloc = backend.alloc.bind(backend)
    backend.alloc = (byteLength) => {
      const buffer = alloc(byteLength)
      peak = Math.max(peak, backend.allocatedBytes)
      return buffer
    }
    await action()
    backend.alloc = alloc
    return peak - cache.byteLength
  }

  test.each([
    ['F32', 2 * 4 * 4],
    ['F16', 2 * 4 * 2],
    ['Q8_0', 2 * 8], // 4 bytes, a scale of 2, filled to 8
  ] as const)('of %s follows the length in blocks of 256', async (type, rowBytes) => {
    const backend = createReferenceBackend()
    const cache = new KvCache(backend, CONFIG, type)
    const bytes: number[] = []
    for (const length of [1, 256, 257, 700, 1023, 1025, 2000, 2048]) {
      await cache.reserve(length, 0)
      bytes.push(cache.byteLength)
      expect(cache.byteLength).toBe(backend.allocatedBytes)
      expect(cache.capacity - length).toBeLessThan(256)
    }
    const position = CONFIG.layers * 2 * rowBytes
    expect(KvCache.bytesPerToken(CONFIG, type)).toBe(position)
    expect(bytes).toEqual([256, 256, 512, 768, 1024, 1280, 2048, 2048].map((room) => room * position))
    cache.dispose()
    expect(backend.allocatedBytes).toBe(0)
  })

  test('ends with the context, and goes on where a longer sequence is wanted all the same', async () => {
    const backend = createReferenceBackend()
    const cache = new KvCache(backend, { ...CONFIG, contextLength: 300 }, 'F16')
    await cache.reserve(257, 0)
    expect(cache.capacity).toBe(300)
    await cache.reserve(310, 257)
    expect(cache.capacity).toBe(310)
  })

  test('is copied one layer at a time', async () => {
    const backend = createReferenceBackend()
    const cache = new KvCache(backend, CONFIG, 'F16')
    await cache.reserve(1024, 0)
    const layer = cache.byteLength / CONFIG.layers
    const beyond = await peakBeyond(backend, cache, () => cache.reserve(1280, 1024))
    // The last layer to move has its old room and the new one; all others have only the new.
    expect(beyond).toBe(layer)
  })

  test('is given back when much less is wanted, and what is kept stays', async () => {
    const backend = createReferenceBackend()
    const cache = new KvCache(backend, CONFIG, 'Q8_0')
    await cache.reserve(2048, 0)
    const full = cache.byteLength
    for (const { ref, byteLength } of cache.ranges(30)) {
      backend.write(
        ref,
        Uint8Array.from({ length: byteLength }, (_, at) => (at * 13) % 250),
      )
    }
    const kept = await readAll(backend, cache, 30)
    await cache.reserve(1100, 30) // 768 positions more than needed: not worth the copy
    expect(cache.byteLength).toBe(full)
    const { layout } = cache
    await cache.reserve(40, 30)
    expect(cache.byteLength).toBe(full / 8)
    expect(cache.layout).not.toBe(layout)
    expect(await readAll(backend, cache, 30)).toEqual(kept)
  })

  test('stays usable when memory runs out while it grows', async () => {
    const backend = createReferenceBackend()
    const cache = new KvCache(backend, CONFIG, 'F16')
    await cache.reserve(256, 0)
    for (const { ref, byteLength } of cache.ranges(9)) {
      backend.write(
        ref,
        Uint8Array.from({ length: byteLength }, (_, at) => at % 199),
      )
    }
    const kept = await readAll(backend, cache, 9)
    const alloc = backend.alloc.bind(backend)
    let left = 3 // both buffers of the first layer, one of the second
    backend.alloc = (byteLength) => {
      if (left-- === 0) throw new EngineError('backend/out-of-memory', { message: 'No more.' })
      return alloc(byteLength)
    }
    await expect(cache.reserve(600, 9)).rejects.toMatchObject({ code: 'backend/out-of-memory' })
    backend.alloc = alloc
    expect(cache.capacity).toBe(256)
    expect(cache.at(0, 0).headStride).toBe(768)
    expect(cache.at(1, 0).headStride).toBe(256)
    expect(cache.byteLength).toBe(backend.allocatedBytes)
    expect(await readAll(backend, cache, 9)).toEqual(kept)
    await cache.reserve(600, 9)
    expect(cache.capacity).toBe(768)
    expect(await readAll(backend, cache, 9)).toEqual(kept)
  })
})
