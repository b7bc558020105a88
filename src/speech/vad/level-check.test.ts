import { expect, it } from 'vitest'
import { formulaNoise } from '../../../test/golden/speech/clips.ts'
import { LevelCheck } from './level-check.ts'

const STEP = 512

function noise(seconds: number, rms: number): Float32Array {
  // The formula gives an even spread from -0.5 to 0.5.
  return formulaNoise(seconds * 16000).map((x) => x * rms * Math.sqrt(12))
}

/** The share of steps that were open. */
function openShare(check: LevelCheck, samples: Float32Array): number {
  let open = 0
  const steps = Math.floor(samples.length / STEP)
  for (let i = 0; i < steps; i++) if (check.hear(samples.subarray(i * STEP, (i + 1) * STEP))) open++
  return open / steps
}

it('digital silence opens nothing', () => {
  expect(openShare(new LevelCheck(), new Float32Array(160000))).toBe(0)
})

it.each([0.001, 0.01, 0.1])('noise that goes on at RMS %d opens nothing once it is known', (rms) => {
  const check = new LevelCheck()
  openShare(check, noise(20, rms))
  expect(openShare(check, noise(10, rms))).toBe(0)
})

it.each([
  [1.5, 0],
  [2.5, 1],
])('what is %d times as loud as the room opens in %d of all steps', (ratio, share) => {
  const check = new LevelCheck()
  openShare(check, noise(20, 0.01))
  expect(openShare(check, noise(0.25, 0.01 * ratio))).toBe(share)
})

it('the first word in a quiet room opens', () => {
  expect(openShare(new LevelCheck(), noise(1, 0.02))).toBe(1)
})

it('a sentence of five seconds does not lift the floor to itself', () => {
  const check = new LevelCheck()
  openShare(check, noise(10, 0.001))
  expect(openShare(check, noise(5, 0.05))).toBe(1)
})

it('after noise it hears quiet speech again within a third of a second', () => {
  const check = new LevelCheck()
  openShare(check, noise(20, 0.1))
  openShare(check, noise(0.33, 0.001))
  expect(openShare(check, noise(1, 0.01))).toBe(1)
})

it('hum below speech opens nothing even when it comes and goes', () => {
  const check = new LevelCheck()
  openShare(check, noise(20, 0.01))
  const hum = noise(2, 0.01).map((x, i) => x + 0.02 * Math.sin((2 * Math.PI * 50 * i) / 16000))
  expect(openShare(check, hum)).toBe(0)
})

it('a reset forgets the room', () => {
  const check = new LevelCheck()
  openShare(check, noise(20, 0.1))
  check.reset()
  expect(openShare(check, noise(1, 0.02))).toBe(1)
})
