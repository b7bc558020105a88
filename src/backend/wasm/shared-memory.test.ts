import { afterEach, expect, it, vi } from 'vitest'
import { createSharedMemory } from './shared-memory.ts'

afterEach(() => vi.unstubAllGlobals())

/** A system that gives up to so many pages. */
function stubSystem(limit: number): void {
  const { Memory } = WebAssembly
  vi.stubGlobal('WebAssembly', {
    Memory: class {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        if ((descriptor.maximum as number) > limit) throw new RangeError('could not allocate memory')
        // biome-ignore lint/correctness/noConstructorReturn: stands for the built-in class
        return new Memory(descriptor)
      }
    },
  })
}

it('reaches 4 GiB', () => {
  const memory = createSharedMemory(1)
  expect(memory.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect(memory.grow(1)).toBe(1)
})

it.each([
  [32768, 32768],
  [30000, 16384],
])('of a system that gives %d pages at most takes %d', (limit, expected) => {
  stubSystem(limit)
  const memory = createSharedMemory(1)
  expect(() => memory.grow(expected)).toThrow(RangeError)
  expect(memory.buffer.byteLength).toBe(65536)
})

it('says so when there is none', () => {
  stubSystem(0)
  expect(() => createSharedMemory(1)).toThrow(
    expect.objectContaining({
      code: 'backend/out-of-memory',
      message: 'The system gave no memory that threads can share.',
    }),
  )
})
