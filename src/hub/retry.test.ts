import { expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { backoffMs, Patience, TransientFailure, withRetries } from './retry.ts'

const FAILURE = new TransientFailure(new EngineError('hub/cut', { message: 'cut' }))

function options() {
  const sleeps: number[] = []
  const clock = { now: () => 0, random: () => 0, sleep: async (ms: number) => void sleeps.push(ms) }
  return { sleeps, retry: { clock, signal: undefined } }
}

it('waits twice as long every time, up to half a minute, with up to half of it by chance', () => {
  expect([1, 2, 3, 4, 5, 6, 9].map((failures) => backoffMs(failures, 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ])
  expect([backoffMs(3, 0), backoffMs(3, 0.5), backoffMs(6, 0)]).toEqual([2000, 3000, 15_000])
})

it('returns what the first successful attempt does', async () => {
  const { sleeps, retry } = options()
  let attempts = 0
  const result = withRetries(retry, async () => {
    if (++attempts < 3) throw FAILURE
    return 'done'
  })
  expect(await result).toBe('done')
  expect(sleeps).toEqual([500, 1000])
})

it('throws the failure itself when patience ends', async () => {
  const { sleeps, retry } = options()
  await expect(withRetries(retry, () => Promise.reject(FAILURE))).rejects.toBe(FAILURE.error)
  expect(sleeps).toEqual([500, 1000, 2000, 4000])
})

it('does not repeat what will not pass', async () => {
  const { sleeps, retry } = options()
  const error = new EngineError('hub/gated', { message: 'no' })
  await expect(withRetries(retry, () => Promise.reject(error))).rejects.toBe(error)
  expect(sleeps).toEqual([])
})

it('has all its patience again after something was gained', async () => {
  const { sleeps, retry } = options()
  const patience = new Patience({ ...retry, maxFailures: 2 })
  await patience.wait(FAILURE)
  patience.renew()
  await patience.wait(FAILURE)
  await expect(patience.wait(FAILURE)).rejects.toBe(FAILURE.error)
  expect(sleeps).toEqual([500, 500])
})
