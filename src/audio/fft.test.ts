import { expect, it } from 'vitest'
import { RealFft } from './fft.ts'

/** Every sum written out. */
function slowPower(frame: Float64Array): number[] {
  return Array.from({ length: frame.length / 2 + 1 }, (_, k) => {
    let re = 0
    let im = 0
    for (const [n, sample] of frame.entries()) {
      const angle = (-2 * Math.PI * ((k * n) % frame.length)) / frame.length
      re += sample * Math.cos(angle)
      im += sample * Math.sin(angle)
    }
    return re * re + im * im
  })
}

it.each([2, 4, 8, 10, 16, 20, 40, 50, 256, 400, 512])(
  '%d samples: within 1e-12 of the written-out sums',
  (length) => {
    const frame = Float64Array.from({ length }, (_, i) => Math.sin(i * i * 0.7) + (i % 3) * 0.2)
    const power = new Float64Array(length / 2 + 1)
    const fft = new RealFft(length)
    fft.power(
      frame.map((x) => x * 3),
      power,
    )
    fft.power(frame, power)
    const expected = slowPower(frame)
    const scale = Math.max(...expected)
    for (const [k, value] of expected.entries())
      expect(Math.abs((power[k] as number) - value)).toBeLessThan(1e-12 * scale)
  },
)

it.each([6, 14, 26])('%d samples: has no transform', (length) => {
  expect(() => new RealFft(length)).toThrow(`No Fourier transform of ${length} samples.`)
})
