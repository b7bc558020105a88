import { expect, test } from 'vitest'
import { CELLS_HIGH, CELLS_WIDE, ChangeDetector, differenceOf, isChange } from './change-detector.ts'

const CELLS = CELLS_WIDE * CELLS_HIGH

/** A slope from dark to light, with a square of `size` x `size` cells at `left`. */
function scene({ left = 0, size = 0, gain = 1, bias = 0 } = {}): Uint8Array {
  return Uint8Array.from({ length: CELLS }, (_, at) => {
    const x = at % CELLS_WIDE
    const y = Math.floor(at / CELLS_WIDE)
    const isThing = x >= left && x < left + size && y < size
    return Math.min(255, Math.max(0, gain * (isThing ? 220 : 40 + 3 * x) + bias))
  })
}

test('light that changes is no change of the scene, as far as it is not lost in white', () => {
  for (const light of [{ bias: 40 }, { bias: -30 }, { gain: 1.3 }, { gain: 0.7 }, { gain: 1.3, bias: 60 }]) {
    expect(differenceOf(scene(), scene(light)).mean, JSON.stringify(light)).toBeLessThan(2)
  }
})

test('one thing in an even scene is a change, and so is an even scene of another kind', () => {
  // 64 of 768 cells.
  const difference = differenceOf(scene(), scene({ left: 4, size: 8 }))
  expect(difference.share).toBeGreaterThanOrEqual(64 / CELLS)
  expect(isChange(difference)).toBe(true)
  // 9 cells are a small thing.
  expect(isChange(differenceOf(scene(), scene({ left: 4, size: 3 })))).toBe(false)
  // Black to white says nothing of light.
  expect(differenceOf(new Uint8Array(CELLS), new Uint8Array(CELLS).fill(255))).toEqual({
    mean: 255,
    share: 1,
  })
})

test('the exact thresholds', () => {
  expect(isChange({ mean: 6, share: 0.05 })).toBe(false)
  expect(isChange({ mean: 6.01, share: 0 })).toBe(true)
  expect(isChange({ mean: 0, share: 0.0501 })).toBe(true)
})

test('a scene is worth a look when the camera has rested on it for 300 ms', () => {
  const detector = new ChangeDetector()
  const states = [0, 100, 200, 299, 300].map((at) => detector.push(scene(), at))
  expect(states.map(({ isStable }) => isStable)).toEqual([false, false, false, false, true])
  expect(states.every(({ isChanged }) => isChanged)).toBe(true)
  detector.markSeen()
  expect(detector.push(scene({ bias: 20 }), 400)).toEqual({ isChanged: false, isStable: true })
  expect(detector.push(scene({ left: 6, size: 10 }), 500)).toEqual({ isChanged: true, isStable: false })
  expect(detector.push(scene({ left: 6, size: 10 }), 800)).toEqual({ isChanged: true, isStable: true })
  // Back to what was seen: nothing to look at.
  expect(detector.push(scene(), 900)).toEqual({ isChanged: false, isStable: false })
  detector.forget()
  expect(detector.push(scene(), 1000)).toEqual({ isChanged: true, isStable: false })
})

test('a slow turn never rests, though each frame is like the one before', () => {
  const waves = (shift: number): Uint8Array =>
    Uint8Array.from({ length: CELLS }, (_, at) =>
      Math.round(128 + 60 * Math.sin(((at + shift) * 2 * Math.PI) / CELLS_WIDE)),
    )
  const detector = new ChangeDetector()
  for (let step = 0; step < 20; step++) {
    expect(isChange(differenceOf(waves(step * 0.5), waves((step + 1) * 0.5)))).toBe(false)
    expect(detector.push(waves(step * 0.5), step * 100).isStable).toBe(false)
  }
})
