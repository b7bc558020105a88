/** Tools of the cases that show what a backend does beyond computing. */
import { expect } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import type { Backend, BufferRef } from '../backend.ts'
import { bytesOf } from './random.case.ts'

export interface BehaviourCase {
  readonly title: string
  /** Gets a backend of its own, which is disposed afterwards. Throws when the behaviour is wrong. */
  run(backend: Backend): Promise<void>
}

/** Enough work that an abort arrives in the middle, on slow and fast backends. */
const LONG_WORK = { operations: 3000, rows: 64, columns: 1024 }

export function floats(...values: number[]): Uint8Array {
  return bytesOf(Float32Array.from(values))
}

export async function readFloats(backend: Backend, ref: BufferRef, length: number): Promise<number[]> {
  const bytes = await backend.read(ref, length * 4)
  return [...new Float32Array(bytes.buffer)]
}

export function expectFloats(found: readonly number[], ...expected: number[]): void {
  expect(found).toEqual(expected)
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  expect(found, what).toBe(expected)
}

function codeOf(error: unknown): string {
  return EngineError.isInstance(error) ? error.code : `no EngineError but ${String(error)}`
}

/** The code of the EngineError that `action` throws. */
export function thrownCode(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    return codeOf(error)
  }
  return 'nothing thrown'
}

/** The code of the EngineError that the promise rejects with. */
export async function rejectedCode(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => codeOf(error),
  )
}

export function addRows(backend: Backend, x: BufferRef, y: BufferRef, columns: number): void {
  backend.enqueue('addRows', { x, y, rows: 1, columns })
}

export function enqueueLongWork(backend: Backend): BufferRef {
  const { operations, rows, columns } = LONG_WORK
  const x = backend.alloc(rows * columns * 4)
  const y = backend.alloc(rows * columns * 4)
  for (const buffer of [x, y]) backend.write(buffer, bytesOf(new Float32Array(rows * columns).fill(1)))
  for (let i = 0; i < operations; i++) backend.enqueue('addRows', { x, y, rows, columns })
  return x
}
