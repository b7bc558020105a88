import { expect, test } from 'vitest'
import { LookTimes, paceOf, restAfter } from './look-pace.ts'

test.each([
  [{}, 1, 'full', 0.8],
  [{ isCharging: true, batteryLevel: 0.1 }, 1, 'full', 0.8],
  [{ isCharging: false, batteryLevel: 0.9 }, 1, 'battery', 0.6],
  [{ isCharging: false, batteryLevel: 0.2 }, 1, 'low-battery', 0.33],
  [{ isCharging: true, pressure: 'serious' }, 1, 'warm', 0.4],
  [{ isCharging: false, batteryLevel: 0.1, pressure: 'critical' }, 1, 'hot', 0.2],
  [{}, 1.7, 'warm', 0.4],
  [{}, 2.8, 'hot', 0.2],
] as const)('%j, %f times slower: %s', (power, slowdown, reason, duty) => {
  expect(paceOf(power, slowdown)).toEqual({ reason, duty })
})

test('a quick model looks once a second; a slow one rests for its share; nobody waits for ever', () => {
  expect(restAfter(200, { duty: 0.8, reason: 'full' })).toBe(800)
  expect(restAfter(6000, { duty: 0.6, reason: 'battery' })).toBeCloseTo(4000, 6)
  expect(restAfter(20_000, { duty: 0.2, reason: 'hot' })).toBe(15_000)
})

test('a device that slows down is told from a model that is slow', () => {
  const times = new LookTimes()
  expect([times.typicalMs, times.slowdown]).toEqual([0, 1])
  for (let look = 0; look < 8; look++) times.add(4000)
  expect(times.slowdown).toBe(1)
  for (let look = 0; look < 8; look++) times.add(8000)
  expect(times.slowdown).toBe(2)
  // One long answer is no heat.
  for (let look = 0; look < 8; look++) times.add(4000)
  times.add(20_000)
  expect(times.slowdown).toBe(1)
  times.reset()
  expect([times.typicalMs, times.slowdown]).toEqual([0, 1])
})
