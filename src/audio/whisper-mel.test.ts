import { describe, expect, it } from 'vitest'
import { formulaNoise as noise, readClip, readVectors } from '../../test/golden/speech/clips.ts'
import { WhisperMel } from './whisper-mel.ts'

interface Vector {
  name: string
  bands: number
  samples: number
  rows: number[]
  base64: string
}

const vectors = readVectors<Vector[]>('mel.json')
const samplesOf = ({ name, samples }: Vector): Float32Array =>
  name === 'noise' ? noise(samples) : readClip(name)
const bytesOf = (values: Float32Array): Buffer => Buffer.from(values.buffer)

describe.each(vectors)('$name, $bands bands, $samples samples', (vector) => {
  const samples = samplesOf(vector)
  const mel = new WhisperMel({ bands: vector.bands })
  mel.push(samples)
  const features = mel.features()

  it('is within 1e-5 of Transformers 5.18 in double precision', () => {
    const expected = new Float32Array(Uint8Array.from(Buffer.from(vector.base64, 'base64')).buffer)
    expect(features.length).toBe(3000 * vector.bands)
    let worst = 0
    for (const [i, row] of vector.rows.entries()) {
      for (let band = 0; band < vector.bands; band++) {
        const difference = features[row * vector.bands + band]! - expected[i * vector.bands + band]!
        worst = Math.max(worst, Math.abs(difference))
      }
    }
    expect(worst).toBeLessThan(1e-5)
  })

  it('is the same when the sound comes in pieces and features are asked for in between', () => {
    const stream = new WhisperMel({ bands: vector.bands })
    for (let at = 0, size = 1; at < samples.length; at += size, size = ((size * 7) % 4999) + 1) {
      stream.push(samples.subarray(at, at + size))
      stream.features(1)
    }
    expect(bytesOf(stream.features()).equals(bytesOf(features))).toBe(true)
  })

  it('fewer frames are the first ones', () => {
    expect(bytesOf(mel.features(37)).equals(bytesOf(features.slice(0, 37 * vector.bands)))).toBe(true)
  })
})

it('a new window knows nothing of the one before', () => {
  const used = new WhisperMel()
  used.push(noise(5000))
  used.features()
  used.reset()
  used.push(noise(700))
  const fresh = new WhisperMel()
  fresh.push(noise(700))
  expect(bytesOf(used.features()).equals(bytesOf(fresh.features()))).toBe(true)
})

it('refuses more than its window', () => {
  const mel = new WhisperMel({ windowSeconds: 8 })
  mel.push(new Float32Array(128000))
  expect(mel.features().length).toBe(800 * 80)
  expect(() => mel.push(new Float32Array(1))).toThrow('at most 128000 samples')
})
