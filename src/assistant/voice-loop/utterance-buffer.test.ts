import { expect, test } from 'vitest'
import { UtteranceBuffer } from './utterance-buffer.ts'

/** Samples that hold their own positions. */
function ramp(from: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, index) => from + index)
}

test('an utterance is there from before its beginning', () => {
  const buffer = new UtteranceBuffer(600)
  for (let at = 0; at < 5000; at += 32) buffer.push(ramp(at, 32))
  buffer.begin(4900)
  buffer.push(ramp(5024, 100))
  const samples = buffer.copy()
  expect(samples[0]).toBe(4424)
  expect([...samples]).toEqual([...ramp(4424, 5124 - 4424)])
})

test('before anything is said no more than the lead-in is kept', () => {
  const buffer = new UtteranceBuffer(600)
  for (let at = 0; at < 100_000; at += 512) buffer.push(ramp(at, 512))
  expect(buffer.length).toBe(600)
})

test('a beginning that is told late may reach into what was heard first', () => {
  const buffer = new UtteranceBuffer(1000)
  buffer.push(ramp(0, 500))
  buffer.begin(200)
  expect(buffer.copy()[0]).toBe(0)
  expect(buffer.length).toBe(500)
})

test('what was forgotten is no lead-in', () => {
  const buffer = new UtteranceBuffer(1000)
  buffer.push(ramp(0, 800))
  buffer.clear()
  buffer.push(ramp(800, 10))
  buffer.begin(805)
  expect([...buffer.copy()]).toEqual([...ramp(800, 10)])
  expect(buffer.position).toBe(810)
})

test('the end of one utterance is the lead-in of the next', () => {
  const buffer = new UtteranceBuffer(100)
  buffer.begin(0)
  buffer.push(ramp(0, 1000))
  expect(buffer.length).toBe(1000)
  buffer.end()
  expect(buffer.copy()[0]).toBe(900)
})
