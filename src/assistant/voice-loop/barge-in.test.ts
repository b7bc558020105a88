import { describe, expect, test } from 'vitest'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { BARGE_IN_DEFAULTS, BargeInDetector } from './barge-in.ts'
import { isEcho } from './echo-match.ts'

const FRAME_MS = 32

interface Moment {
  /** Our voice at the microphone. */
  readonly echo?: number
  /** The person. */
  readonly voice?: number
  readonly playedLevel?: number
  readonly isPlaying?: boolean
}

/** @returns Milliseconds until an interruption is suspected; undefined where it never is. */
function suspectedAfter(totalMs: number, at: (ms: number) => Moment): number | undefined {
  const detector = new BargeInDetector(BARGE_IN_DEFAULTS)
  const random = new SeededRandom(5)
  for (let ms = 0; ms < totalMs; ms += FRAME_MS) {
    const { echo = 0, voice = 0, playedLevel, isPlaying = true } = at(ms)
    // Speech goes up and down from frame to frame.
    const level = (echo + voice) * (0.8 + 0.4 * random.uniform()) + 0.0003
    const isSpeech = level > 0.005
    if (detector.push({ durationMs: FRAME_MS, level, isSpeech, isPlaying, playedLevel })) return ms
  }
  return undefined
}

/** Sentences of 2 s with pauses of 400 ms. */
const isSentence = (ms: number): boolean => ms % 2400 < 2000

describe('while our voice sounds', () => {
  test('its echo is nobody, sentence after sentence', () => {
    expect(suspectedAfter(30_000, (ms) => ({ echo: isSentence(ms) ? 0.05 : 0 }))).toBeUndefined()
  })

  test('neither is it when the echo is loud, or known', () => {
    expect(suspectedAfter(30_000, (ms) => ({ echo: isSentence(ms) ? 0.4 : 0 }))).toBeUndefined()
    expect(
      suspectedAfter(30_000, (ms) => ({
        echo: isSentence(ms) ? 0.1 : 0,
        playedLevel: isSentence(ms) ? 0.3 : 0,
      })),
    ).toBeUndefined()
  })

  test('a person above the echo is heard within 600 ms', () => {
    const start = 5000
    const heard = suspectedAfter(10_000, (ms) => ({
      echo: isSentence(ms) ? 0.03 : 0,
      voice: ms >= start ? 0.15 : 0,
    }))
    expect(heard).toBeGreaterThan(start + 200)
    expect(heard).toBeLessThan(start + 600)
  })

  test('a short noise is nobody', () => {
    expect(
      suspectedAfter(10_000, (ms) => ({
        echo: isSentence(ms) ? 0.03 : 0,
        voice: ms >= 5000 && ms < 5130 ? 0.5 : 0,
      })),
    ).toBeUndefined()
  })

  test('what echoes after the end of our voice is nobody', () => {
    expect(
      suspectedAfter(3000, (ms) => ({ echo: ms < 2200 ? 0.1 : 0, isPlaying: ms < 2000 })),
    ).toBeUndefined()
  })
})

test('in silence a voice of 250 ms is somebody', () => {
  const heard = suspectedAfter(3000, (ms) => ({ voice: ms >= 1000 ? 0.05 : 0, isPlaying: false }))
  expect(heard).toBeGreaterThanOrEqual(1200)
  expect(heard).toBeLessThan(1300)
})

describe('what was heard is our echo', () => {
  test.each([
    ['there is a dog on the left', 'Yes. There is a dog on the left. It is brown.'],
    ['there was a dog the left', 'There is a dog on the left.'],
    ['It costs nine dollars', 'It costs $9.'],
    ['桌子上有一杯水', '桌子上有一杯水和两本书。'],
    ['three dogs', 'I see 3 dogs.'],
  ])('%s', (heard, saying) => {
    expect(isEcho(heard, saying)).toBe(true)
  })

  test.each([
    ['stop', 'There is a dog on the left.'],
    ['what about the right', 'There is a dog on the left.'],
    ['停一下', '桌子上有一杯水和两本书。'],
    ['', 'There is a dog.'],
    ['dog', ''],
  ])('not %s', (heard, saying) => {
    expect(isEcho(heard, saying)).toBe(false)
  })
})
