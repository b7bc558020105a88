import { expect, it } from 'vitest'
import { TransferMeter } from './transfer-meter.ts'

function play(): { at(ms: number, bytes: number): unknown } {
  let now = 0
  const meter = new TransferMeter(() => now)
  return {
    at(ms, bytes) {
      now = ms
      return meter.measure(bytes, 100_000)
    },
  }
}

it('says nothing in the first second', () => {
  const { at } = play()
  expect(at(0, 500)).toEqual({ bytesPerSecond: undefined, secondsLeft: undefined })
  expect(at(999, 5000)).toEqual({ bytesPerSecond: undefined, secondsLeft: undefined })
  expect(at(1000, 10_500)).toEqual({ bytesPerSecond: 10_000, secondsLeft: 8.95 })
})

it('forgets what was long ago', () => {
  const { at } = play()
  at(0, 0)
  at(1000, 50_000)
  for (let second = 2; second <= 12; second++) at(second * 1000, 50_000 + (second - 1) * 1000)
  expect(at(13_000, 62_000)).toEqual({ bytesPerSecond: 1000, secondsLeft: 38 })
})

it('knows no end while nothing comes', () => {
  const { at } = play()
  at(0, 700)
  expect(at(20_000, 700)).toEqual({ bytesPerSecond: 0, secondsLeft: undefined })
})

it('begins again when a file does', () => {
  const { at } = play()
  at(0, 0)
  at(2000, 20_000)
  expect(at(3000, 5000)).toEqual({ bytesPerSecond: undefined, secondsLeft: undefined })
  expect(at(4000, 6000)).toEqual({ bytesPerSecond: 1000, secondsLeft: 94 })
})
