import { expect, test } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import { MemoryArena } from './memory-arena.ts'

const PAGE = 65536

function createArena(): { arena: MemoryArena; end: () => number } {
  let end = 4 * PAGE
  const arena = new MemoryArena(0, end, (pages) => {
    end += pages * PAGE
  })
  return { arena, end: () => end }
}

function refusal(work: () => unknown): EngineError {
  try {
    work()
  } catch (error) {
    if (EngineError.isInstance(error)) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

test('a limit holds to the page, and freed memory counts again', () => {
  const { arena, end } = createArena()
  arena.limit(10 * PAGE)
  const half = arena.alloc(5 * PAGE)
  const rest = arena.alloc(5 * PAGE)
  expect(end()).toBe(10 * PAGE)
  expect(refusal(() => arena.alloc(1))).toMatchObject({
    code: 'backend/out-of-memory',
    message: 'The engine needs 1 MB more memory; 1 MB are in use and the memory limit leaves 1 MB.',
  })
  arena.free(half)
  expect(arena.alloc(5 * PAGE)).toBe(half)
  arena.free(rest)
  expect(end()).toBe(10 * PAGE)
})

test('a limit below what there is takes nothing away', () => {
  const { arena, end } = createArena()
  arena.limit(PAGE)
  arena.alloc(4 * PAGE)
  expect(refusal(() => arena.alloc(1)).code).toBe('backend/out-of-memory')
  expect(end()).toBe(4 * PAGE)
})

test('gaps that are too small count', () => {
  const { arena } = createArena()
  arena.limit(8 * PAGE)
  const parts = Array.from({ length: 8 }, () => arena.alloc(PAGE))
  for (const index of [0, 2, 4, 6]) arena.free(parts[index] as number)
  expect(refusal(() => arena.alloc(2 * PAGE)).code).toBe('backend/out-of-memory')
  arena.free(parts[1] as number)
  expect(arena.alloc(3 * PAGE)).toBe(0)
})

test('without a limit it ends with 32-bit addresses', () => {
  const { arena } = createArena()
  expect(refusal(() => arena.alloc(2 ** 32 + 1)).message).toContain('a WebAssembly memory ends at 4096 MB')
})
