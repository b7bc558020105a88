import { expect, test } from 'vitest'
import { createReferenceBackend } from '../../backend/reference/reference-backend.ts'
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

test.each(['F16', 'F32'] as const)('ranges of %s say the same whatever the capacity', async (type) => {
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
})

test('a cache that holds nothing has no bytes', async () => {
  const backend = createReferenceBackend()
  const cache = new KvCache(backend, CONFIG, 'F16')
  expect(cache.ranges(0).reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(0)
  await backend.dispose()
})
