import { expect, it } from 'vitest'
import { encodePcm, encodeWav, encodeWavHeader } from './encode-wav.ts'
import { parseWav } from './wav-decoder.ts'

const samples = Float32Array.of(-1, -0.25, 0, 0.3, 0.999969482421875)

it('floats come back as they were', () => {
  expect(parseWav(encodeWav({ samples, sampleRate: 22050 }, 'f32le'), 'x')).toEqual({
    samples,
    sampleRate: 22050,
  })
})

it('16 bits come back rounded to 1/32768, and what is too loud is clipped', () => {
  const clip = { samples: Float32Array.of(...samples, 1, 1.5, -3), sampleRate: 16000 }
  const top = 32767 / 32768
  expect([...parseWav(encodeWav(clip), 'x').samples]).toEqual([
    -1,
    -0.25,
    0,
    Math.round(0.3 * 32768) / 32768,
    top,
    top,
    top,
    -1,
  ])
})

it('the header has the standard 44 bytes', () => {
  const hex = Buffer.from(encodeWavHeader(16000, 's16le', 2)).toString('hex')
  expect(hex).toBe('524946462800000057415645666d74201000000001000100803e0000007d0000020010006461746104000000')
})

it('with an unknown length, a reader takes all that follows', () => {
  const file = Buffer.concat([
    encodeWavHeader(8000, 's16le', undefined),
    encodePcm(samples.subarray(0, 3), 's16le'),
  ])
  expect([...parseWav(file, 'x').samples]).toEqual([-1, -0.25, 0])
})
