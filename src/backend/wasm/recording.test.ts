import { expect, test } from 'vitest'
import { Recording } from './recording.ts'

test('continues what grows by constant steps, before and after the recorded indexes', () => {
  const recording = new Recording(10, Int32Array.of(5, 100, -3, 0), Int32Array.of(5, 164, -4, 0))
  expect([...recording.at(10)]).toEqual([5, 100, -3, 0])
  expect([...recording.at(11)]).toEqual([5, 164, -4, 0])
  expect([...recording.at(500)]).toEqual([5, 100 + 490 * 64, -3 - 490, 0])
  expect([...recording.at(0)]).toEqual([5, 100 - 640, 7, 0])
})

test('addresses beyond 2 GiB wrap as unsigned 32-bit numbers do', () => {
  const high = 0x7ffffff0
  const recording = new Recording(0, Int32Array.of(high), Int32Array.of((high + 64) | 0))
  expect((recording.at(3)[0] as number) >>> 0).toBe(high + 192)
})

test('lists of unequal length are refused', () => {
  expect(() => new Recording(0, Int32Array.of(1), Int32Array.of(1, 2))).toThrow('changed its length')
})
