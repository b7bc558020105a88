import type { PullEvent } from 'onsight/hub'
import { expect, it } from 'vitest'
import { DownloadMeter } from './download-progress.ts'

const PLAN: PullEvent = {
  type: 'plan-made',
  id: 'o/n',
  revision: 'abc',
  licence: undefined,
  files: [
    { name: 'config.json', byteLength: 100, keptBytes: 100 },
    { name: 'model.safetensors', byteLength: 9900, keptBytes: 900 },
  ],
  totalBytes: 10_000,
  keptBytes: 1000,
}
const bytes = (receivedBytes: number): PullEvent => ({
  type: 'bytes-received',
  file: 'model.safetensors',
  receivedBytes,
})

function setUp() {
  let now = 0
  const meter = new DownloadMeter(() => now)
  const at = (ms: number, event: PullEvent): void => {
    now = ms
    meter.receive(event)
  }
  return { meter, at }
}

it('counts what was kept, and tells speed and time once a second has passed', () => {
  const { meter, at } = setUp()
  expect(meter.progress).toMatchObject({ phase: 'asking', receivedBytes: 0, totalBytes: 0 })
  at(0, PLAN)
  at(500, bytes(1900))
  expect(meter.progress).toEqual({
    phase: 'fetching',
    receivedBytes: 2000,
    totalBytes: 10_000,
    bytesPerSecond: undefined,
    secondsLeft: undefined,
  })
  at(2000, bytes(4900))
  // 4,000 bytes in two seconds, 5,000 to go.
  expect(meter.progress).toMatchObject({ receivedBytes: 5000, bytesPerSecond: 2000, secondsLeft: 2.5 })
})

it('forgets the speed of before a lost connection', () => {
  const { meter, at } = setUp()
  at(0, PLAN)
  at(2000, bytes(2900))
  at(2100, { type: 'retry-scheduled', file: 'model.safetensors', failures: 1, delayMs: 1000, reason: 'cut' })
  expect(meter.progress).toMatchObject({ phase: 'waiting', receivedBytes: 3000, bytesPerSecond: undefined })
  at(3100, { type: 'file-started', file: 'model.safetensors', fromByte: 2900 })
  at(3200, bytes(3000))
  expect(meter.progress).toMatchObject({ phase: 'fetching', receivedBytes: 3100, bytesPerSecond: 100 / 1.1 })
})

it('goes back when a file begins anew, and ends with all bytes', () => {
  const { meter, at } = setUp()
  at(0, PLAN)
  at(1000, { type: 'file-restarted', file: 'model.safetensors', reason: 'changed' })
  expect(meter.progress.receivedBytes).toBe(100)
  at(2000, bytes(9900))
  expect(meter.progress).toMatchObject({ phase: 'checking', receivedBytes: 10_000 })
  at(2100, { type: 'file-verified', file: 'model.safetensors', sha256: 'ff' })
  expect(meter.progress).toMatchObject({ phase: 'checking', receivedBytes: 10_000 })
})
