import { describe, expect, it } from 'vitest'
import { Resampler, resample, resampleStream } from './resampler.ts'

const RATES = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 176400, 192000]
const ODD_RATES = [8001, 44099, 12345, 47999]

function tone(rate: number, hz: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rate))
}

/** The root mean square of the middle half, where no edge is. */
function loudness(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 4, (samples.length * 3) / 4)
  return Math.sqrt(middle.reduce((sum, x) => sum + x * x, 0) / middle.length)
}

const decibels = (ratio: number): number => 20 * Math.log10(ratio)
const at16k = (samples: Float32Array, sampleRate: number): Float32Array =>
  resample({ samples, sampleRate }, 16000).samples

describe.each([...RATES, ...ODD_RATES])('%d to 16000', (rate) => {
  it('gives one sample for each that stands before the end', () => {
    for (const count of [0, 1, 2, 100, 9999]) {
      expect(at16k(new Float32Array(count), rate).length).toBe(Math.ceil((count * 16000) / rate))
    }
  })

  it('tones that fit stay in place, with an error below -80 dB', () => {
    for (const hz of [100, 1000, 3000, 0.43 * Math.min(rate, 16000)]) {
      const found = at16k(tone(rate, hz, rate / 4), rate)
      const expected = tone(16000, hz, found.length)
      const error = found.map((x, i) => x - (expected[i] as number))
      expect(decibels(loudness(error) / Math.SQRT1_2)).toBeLessThan(-80)
    }
  })

  it('a constant stays exact to one part in a million', () => {
    const found = at16k(new Float32Array(rate / 8).fill(0.75), rate)
    const middle = [...found.subarray(found.length / 4, found.length / 2)]
    expect(Math.max(...middle.map((x) => Math.abs(x - 0.75)))).toBeLessThan(1e-6)
  })

  it('pieces of any size give what the whole gives, bit by bit', () => {
    const samples = Float32Array.from({ length: 3000 }, (_, i) => Math.sin(i * i * 0.001))
    const resampler = new Resampler(rate, 16000)
    for (const first of [1, 480, 2999]) {
      const found: number[] = []
      for (let at = 0, size = first; at < samples.length; at += size, size = ((size * 3) % 701) + 1) {
        found.push(...resampler.push(samples.subarray(at, at + size)))
      }
      found.push(...resampler.finish())
      expect(found).toEqual([...at16k(samples, rate)])
      resampler.reset()
    }
  })
})

describe.each(RATES.filter((rate) => rate > 16000).concat(44099))('%d to 16000', (rate) => {
  it('what does not fit is below -80 dB', () => {
    for (let hz = 8000; hz < Math.min(rate / 2, 60000); hz += 977) {
      expect(decibels(loudness(at16k(tone(rate, hz, rate / 20), rate)) / Math.SQRT1_2)).toBeLessThan(-80)
    }
  })
})

describe.each([8000, 11025, 8001])('%d to 16000', (rate) => {
  it('makes no mirror images above its own highest frequency', () => {
    const hz = 0.42 * rate
    const image = rate - hz
    const found = at16k(tone(rate, hz, rate), rate)
    // The share of the image by correlation.
    let re = 0
    let im = 0
    for (const [i, x] of found.entries()) {
      const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / found.length)
      re += x * hann * Math.cos((2 * Math.PI * image * i) / 16000)
      im += x * hann * Math.sin((2 * Math.PI * image * i) / 16000)
    }
    expect(decibels((4 * Math.hypot(re, im)) / found.length)).toBeLessThan(-80)
  })
})

it.each([
  [24000, 48000],
  [16000, 44100],
  [22050, 48000],
  [48000, 44100],
])('%d to %d for playing: error below -80 dB', (from, to) => {
  const found = resample({ samples: tone(from, 2000, from / 4), sampleRate: from }, to).samples
  const expected = tone(to, 2000, found.length)
  expect(decibels(loudness(found.map((x, i) => x - expected[i]!)) / Math.SQRT1_2)).toBeLessThan(-80)
})

it('the same rate passes through, and does not share memory with a stream', () => {
  const samples = Float32Array.of(1, 2, 3)
  const found = new Resampler(16000, 16000).push(samples)
  expect(found).toEqual(samples)
  expect(found.buffer).not.toBe(samples.buffer)
})

it('answers 6 ms after it has heard', () => {
  for (const rate of RATES) {
    const { halfWidth } = new Resampler(rate, 16000)
    expect(halfWidth / rate).toBeLessThan(0.0061)
  }
})

it('a stream that changes its rate loses nothing', async () => {
  const clips = [
    { samples: new Float32Array(4410).fill(0.5), sampleRate: 44100 },
    { samples: new Float32Array(100), sampleRate: 44100 },
    { samples: new Float32Array(4800).fill(0.25), sampleRate: 48000 },
    { samples: new Float32Array(0), sampleRate: 16000 },
  ]
  let count = 0
  for await (const { samples, sampleRate } of resampleStream(clips, 16000)) {
    count += samples.length
    expect(sampleRate).toBe(16000)
  }
  expect(count).toBe(Math.ceil((4510 * 16000) / 44100) + 1600)
})
