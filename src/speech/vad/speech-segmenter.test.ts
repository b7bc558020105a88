import { expect, it } from 'vitest'
import type { GateEvent } from '../types.ts'
import { type SegmenterSettings, SpeechSegmenter } from './speech-segmenter.ts'

const STEP = 512

/** Times in steps. */
function segments(probabilities: readonly number[], settings?: SegmenterSettings): unknown[] {
  const segmenter = new SpeechSegmenter(settings)
  const found: unknown[] = []
  const note = (at: number, event: GateEvent | undefined): void => {
    if (event?.type === 'speech-started') found.push([at, 'started', event.at / STEP])
    else if (event) found.push([at, 'ended', event.start / STEP, event.end / STEP])
  }
  for (const [i, p] of probabilities.entries()) note(i, segmenter.push(p, i * STEP, (i + 1) * STEP))
  note(probabilities.length, segmenter.finish(probabilities.length * STEP))
  return found
}

it('three steps begin a segment at the first of them, three end it at the first quiet one', () => {
  expect(segments([0, 0, 0.6, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0])).toEqual([
    [4, 'started', 2],
    [8, 'ended', 2, 6],
  ])
})

it('a click is no speech', () => {
  expect(segments([0, 0.9, 0.9, 0.1, 0, 0, 0.9, 0])).toEqual([])
})

it('values between the thresholds change nothing: they neither begin nor end', () => {
  expect(segments([0.4, 0.45, 0.4, 0.4])).toEqual([])
  expect(segments([0.6, 0.4, 0.4, 0.4, 0.4, 0.4])).toEqual([
    [2, 'started', 0],
    [6, 'ended', 0, 6],
  ])
})

it('a short pause does not end it; quiet is counted from its beginning when something uncertain comes between', () => {
  expect(segments([0.9, 0.9, 0.9, 0.1, 0.1, 0.9, 0.1, 0.4, 0.1, 0])).toEqual([
    [2, 'started', 0],
    [8, 'ended', 0, 6],
  ])
})

it('the end of the sound ends what is open, and only that', () => {
  expect(segments([0.9, 0.9, 0.9])).toEqual([
    [2, 'started', 0],
    [3, 'ended', 0, 3],
  ])
  expect(segments([0, 0.9])).toEqual([])
})

it('all four numbers can be set', () => {
  const settings = { startThreshold: 0.3, endThreshold: 0.2, minSpeechMs: 32, endSilenceMs: 64 }
  expect(segments([0.31, 0.25, 0.19, 0.19], settings)).toEqual([
    [0, 'started', 0],
    [3, 'ended', 0, 2],
  ])
})
