import { describe, expect, it } from 'vitest'
import { leaseBackend } from './leased-backend.ts'
import { createReferenceBackend } from './reference/reference-backend.ts'

describe('a leased backend', () => {
  it('gives back its own memory, and the rest stays', async () => {
    const shared = createReferenceBackend()
    const [mine, yours] = [leaseBackend(shared), leaseBackend(shared)]
    mine.alloc(1000)
    const kept = yours.alloc(16)
    yours.write(kept, Uint8Array.of(1, 2, 3, 4))
    const half = mine.alloc(500)
    mine.free(half)
    expect([mine.allocatedBytes, yours.allocatedBytes, shared.allocatedBytes]).toEqual([1000, 16, 1016])
    await mine.dispose()
    await mine.dispose()
    expect([mine.allocatedBytes, shared.allocatedBytes]).toEqual([0, 16])
    expect([...(await yours.read(kept, 4))]).toEqual([1, 2, 3, 4])
  })

  it('ends with its memory', async () => {
    const lease = leaseBackend(createReferenceBackend())
    const buffer = lease.alloc(4)
    await lease.dispose()
    lease.free(buffer) // nothing happens, twice is once
    for (const call of [
      () => lease.alloc(4),
      () => lease.flush(),
      () => lease.write(buffer, Uint8Array.of(1)),
    ]) {
      expect(call).toThrow(expect.objectContaining({ code: 'backend/disposed' }))
    }
  })

  it('computes', async () => {
    const lease = leaseBackend(createReferenceBackend())
    const x = lease.alloc(8)
    lease.write(x, new Uint8Array(Float32Array.of(1, 2).buffer))
    lease.enqueue('addRows', { x, y: x, rows: 1, columns: 2 })
    expect([...new Float32Array((await lease.read(x, 8)).buffer)]).toEqual([2, 4])
  })
})
