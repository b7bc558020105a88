import { describe, expect, it } from 'vitest'
import { formulaNoise } from '../../../test/golden/speech/clips.ts'
import type { GateEvent } from '../types.ts'
import { CascadedGate, type StepNet, type VoiceGateOptions } from './voice-gate.ts'

const STEP = 512

/** Says of each step what its loudest sample is: 0.9 is speech. Knows which steps it heard, by the second sample. */
class LoudnessNet implements StepNet {
  readonly heard: number[] = []
  resets = 0

  run(samples: Float32Array): number {
    this.heard.push(samples[1] as number)
    return Math.max(...samples.subarray(2).map(Math.abs))
  }

  reset(): void {
    this.resets++
  }
}

/** Steps of one loudness each; the second sample carries the number of the step, too weak to matter. */
function steps(...parts: readonly (readonly [count: number, loudness: number])[]): Float32Array {
  const all = parts.flatMap(([count, loudness]) => Array<number>(count).fill(loudness))
  const noise = formulaNoise(STEP).map((x) => (x < 0 ? -1 : 1))
  const samples = new Float32Array(all.length * STEP)
  for (const [i, loudness] of all.entries()) {
    samples.set(
      noise.map((x) => x * loudness),
      i * STEP,
    )
    samples[i * STEP + 1] = i
  }
  return samples.map((x, i) => (i % STEP === 1 ? x * 1e-6 : x))
}

function gate(options?: VoiceGateOptions): { gate: CascadedGate; small: LoudnessNet; large: LoudnessNet } {
  const small = new LoudnessNet()
  const large = new LoudnessNet()
  return { gate: new CascadedGate(small, large, options), small, large }
}

const inSteps = (events: readonly GateEvent[]): unknown[] =>
  events.map((event) =>
    event.type === 'speech-started' ? event.at / STEP : [event.start / STEP, event.end / STEP],
  )
const numbers = (net: LoudnessNet): number[] => net.heard.map((x) => Math.round(x * 1e6))
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

describe('the counters', () => {
  it('in silence only the level check runs', () => {
    const { gate: quiet, small, large } = gate()
    expect(quiet.push(new Float32Array(STEP * 1000))).toEqual([])
    expect(quiet.counters).toEqual({ levelFrames: 1000, smallNetRuns: 0, largeNetRuns: 0 })
    expect([small.heard, large.heard]).toEqual([[], []])
  })

  it('sound that the small network calls no speech wakes nobody else', () => {
    const { gate: noisy, large } = gate()
    noisy.push(steps([50, 0], [20, 0.2], [100, 0]))
    const { levelFrames, smallNetRuns, largeNetRuns } = noisy.counters
    expect([levelFrames, largeNetRuns]).toEqual([170, 0])
    // The half second before, the sound, the step in which it fades from the filter, and half a second after it.
    expect(smallNetRuns).toBe(15 + 20 + 1 + 16)
    expect(large.heard).toEqual([])
  })
})

it('finds a sentence in silence, with its beginning', () => {
  const { gate: waiting, small, large } = gate()
  expect(inSteps(waiting.push(steps([100, 0], [40, 0.9], [100, 0])))).toEqual([100, [100, 140]])
  expect(numbers(small)).toEqual(range(85, 157))
  expect(numbers(large)).toEqual(range(85, 150))
})

it('speech from the first sample on begins at 0', () => {
  expect(inSteps(gate().gate.push(steps([20, 0.9], [40, 0])))).toEqual([0, [0, 20]])
})

it('a beginning that only the large network knows is found in what came before', () => {
  class LateNet extends LoudnessNet {
    override run(samples: Float32Array): number {
      return super.run(samples) > 0.8 ? 0.9 : 0
    }
  }
  const late = new CascadedGate(new LateNet(), new LoudnessNet())
  expect(inSteps(late.push(steps([100, 0], [6, 0.6], [20, 0.9], [60, 0])))).toEqual([100, [100, 126]])
})

it('pieces of any size give the same events at the same samples', () => {
  const samples = steps([30, 0], [20, 0.9], [8, 0], [20, 0.7], [60, 0], [9, 0.9], [50, 0])
  const whole = gate().gate.push(samples)
  expect(whole).toHaveLength(6)
  for (const size of [1, 100, 480, 512, 4096]) {
    const { gate: pieces } = gate()
    const found: GateEvent[] = []
    for (let at = 0; at < samples.length; at += size)
      found.push(...pieces.push(samples.subarray(at, at + size)))
    expect(found).toEqual(whole)
  }
})

it('speech that goes on quietly is followed by the large network alone', () => {
  const { gate: fading, small } = gate({ endThreshold: 0.0001, startThreshold: 0.00015 })
  const events = fading.push(steps([50, 0], [20, 0.9], [200, 0.0002], [30, 0]))
  expect(inSteps(events)).toEqual([50, [50, 270]])
  expect(numbers(small).at(-1)).toBeLessThan(100)
})

it('the end of the sound ends a segment', () => {
  const { gate: cut } = gate()
  cut.push(steps([50, 0], [20, 0.9]))
  cut.push(new Float32Array(100).fill(0.9))
  expect(cut.finish()).toEqual([{ type: 'speech-ended', start: 50 * STEP, end: 70 * STEP + 100 }])
  expect(cut.finish()).toEqual([])
})

it('a reset begins at sample 0 and forgets what was heard', () => {
  const { gate: again, small } = gate()
  const samples = steps([50, 0], [20, 0.9], [60, 0])
  const first = again.push(samples)
  again.push(steps([20, 0.9]))
  again.reset()
  expect(again.finish()).toEqual([])
  small.heard.length = 0
  expect(again.push(samples)).toEqual(first)
  expect(numbers(small)[0]).toBe(35)
})
