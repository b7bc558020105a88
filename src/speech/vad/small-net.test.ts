import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formulaNoise, readClip, readVectors } from '../../../test/golden/speech/clips.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { GATE_STEP, GateFeatures } from './gate-features.ts'
import { loadSmallNetWeights, SmallNet } from './small-net.ts'

interface Vector {
  name: string
  loudness: number
  noise: number
  rows: number[]
  features: number[][]
  probabilities: number[]
}

const file = new Uint8Array(readFileSync(new URL('../../../weights/voice-gate.safetensors', import.meta.url)))
const weights = await loadSmallNetWeights(createMemorySource('voice-gate.safetensors', file))

function stepsOf({ name, loudness, noise }: Vector): Float32Array[] {
  const other = formulaNoise(1e5)
  const samples = readClip(name).map(
    (x, i) => Math.fround(x * loudness) + Math.fround((other[i] as number) * noise),
  )
  const count = Math.floor(samples.length / GATE_STEP)
  return Array.from({ length: count }, (_, i) => samples.subarray(i * GATE_STEP, (i + 1) * GATE_STEP))
}

it('is at most 40 KB', () => {
  expect(file.length).toBeLessThanOrEqual(40_000)
})

describe.each(readVectors<Vector[]>('gate.json'))('$name, loudness $loudness, noise $noise', (vector) => {
  it('features are within 1e-4 of NumPy', () => {
    const features = new GateFeatures()
    const rows = stepsOf(vector).map((samples) => [...features.step(samples)])
    let worst = 0
    for (const [i, row] of vector.rows.entries()) {
      for (const [k, value] of vector.features[i]!.entries())
        worst = Math.max(worst, Math.abs(rows[row]![k]! - value))
    }
    expect(worst).toBeLessThan(1e-4)
  })

  it('probabilities are within 1e-4 of PyTorch with the same 8-bit weights', () => {
    const net = new SmallNet(weights)
    const found = stepsOf(vector).map((samples) => net.run(samples))
    expect(found.length).toBe(vector.probabilities.length)
    for (const [i, value] of vector.probabilities.entries())
      expect(Math.abs(found[i]! - value)).toBeLessThan(1e-4)
  })
})

it('after a reset it has heard nothing', () => {
  const steps = stepsOf({ name: 'en1', loudness: 1, noise: 0 } as Vector)
  const net = new SmallNet(weights)
  const first = steps.map((samples) => net.run(samples))
  net.reset()
  expect(steps.map((samples) => net.run(samples))).toEqual(first)
})
