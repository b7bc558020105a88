import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { formulaNoise, readClip, readVectors } from '../../../test/golden/speech/clips.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { SILERO_CHUNK, SileroVad } from './silero.ts'
import { loadSileroWeights } from './weights.ts'

interface Vector {
  name: string
  loudness: number
  noise: number
  probabilities: number[]
}

const file = new Uint8Array(readFileSync(new URL('../../../weights/silero-vad.safetensors', import.meta.url)))
const weights = await loadSileroWeights(createMemorySource('silero-vad.safetensors', file))

function probabilities(vad: SileroVad, samples: Float32Array): number[] {
  return Array.from({ length: Math.floor(samples.length / SILERO_CHUNK) }, (_, i) =>
    vad.run(samples, i * SILERO_CHUNK),
  )
}

it.each(readVectors<Vector[]>('silero.json'))(
  '$name, loudness $loudness, noise $noise: within 1e-4 of the ONNX file in every step',
  ({ name, loudness, noise, probabilities: expected }) => {
    const other = formulaNoise(1e5)
    const samples = readClip(name).map(
      (x, i) => Math.fround(x * loudness) + Math.fround((other[i] as number) * noise),
    )
    const found = probabilities(new SileroVad(weights), samples)
    expect(found.length).toBe(expected.length)
    for (const [i, value] of expected.entries()) expect(Math.abs(found[i]! - value)).toBeLessThan(1e-4)
  },
)

it('after a reset it has heard nothing', () => {
  const vad = new SileroVad(weights)
  const first = probabilities(vad, readClip('en1'))
  vad.reset()
  expect(probabilities(vad, readClip('en1'))).toEqual(first)
})

it('names what is missing or misshapen in a file', async () => {
  const load = (bytes: Uint8Array): Promise<unknown> =>
    loadSileroWeights(createMemorySource('vad.safetensors', bytes))
  const renamed = new Uint8Array(file)
  const header = new TextDecoder('latin1').decode(renamed.subarray(0, 2000))
  renamed.set(new TextEncoder().encode('conv5'), header.indexOf('conv3.weight'))
  await expect(load(renamed)).rejects.toMatchObject({
    code: 'model/missing-tensor',
    message: expect.stringContaining('"conv3.weight"'),
  })
  const reshaped = new Uint8Array(file)
  reshaped.set(new TextEncoder().encode('[256,512]'), header.indexOf('[512,256]'))
  await expect(load(reshaped)).rejects.toMatchObject({
    code: expect.stringMatching(/^format\/|model\/wrong-shape/),
  })
  await expect(load(file.subarray(0, 1000))).rejects.toMatchObject({ code: 'format/truncated' })
})
