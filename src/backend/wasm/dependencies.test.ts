import { expect, test } from 'vitest'
import { DependencyTracker } from './dependencies.ts'

test('commands that only read the same memory need not wait', () => {
  const tracker = new DependencyTracker()
  expect(tracker.add([0, 64], 100, 164)).toBe(false)
  expect(tracker.add([0, 64], 200, 264)).toBe(false)
})

test('reading what was written waits, and what came before the barrier is forgotten', () => {
  const tracker = new DependencyTracker()
  tracker.add([0, 64], 100, 164)
  expect(tracker.add([160, 170], 300, 364)).toBe(true)
  expect(tracker.add([100, 164], 400, 464)).toBe(false)
})

test('writing what is read or written waits; ranges that touch do not overlap', () => {
  const read = new DependencyTracker()
  read.add([0, 64], 100, 164)
  expect(read.add([], 63, 70)).toBe(true)
  const written = new DependencyTracker()
  written.add([], 100, 164)
  expect(written.add([], 150, 200)).toBe(true)
  const apart = new DependencyTracker()
  apart.add([0, 64], 100, 164)
  expect(apart.add([164, 200], 64, 100)).toBe(false)
})

test('clear forgets everything', () => {
  const tracker = new DependencyTracker()
  tracker.add([], 0, 64)
  tracker.clear()
  expect(tracker.add([0, 64], 100, 164)).toBe(false)
})
