import { describe, expect, it } from 'vitest'
import { completeSteps, runSteps, type Steps } from './steps.ts'

/** Busy for `stepMs` a step. */
function* work(steps: number, stepMs: number, onStep: () => void = () => {}): Steps<string> {
  for (let step = 0; step < steps; step++) {
    const end = performance.now() + stepMs
    while (performance.now() < end);
    onStep()
    yield
  }
  return 'done'
}

describe('long work in steps', () => {
  it('lets others have a turn in between', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    expect(await runSteps(work(30, 5))).toBe('done')
    clearInterval(timer)
    // 150 ms in slices of 20.
    expect(turns).toBeGreaterThanOrEqual(4)
  })

  it('ends soon after an abort', async () => {
    const controller = new AbortController()
    let steps = 0
    setTimeout(() => controller.abort(), 1)
    await expect(
      runSteps(
        work(1000, 5, () => steps++),
        controller.signal,
      ),
    ).rejects.toMatchObject({
      name: 'AbortError',
    })
    expect(steps).toBeLessThan(20)
  })

  it('can be done at once', () => {
    expect(completeSteps(work(3, 0))).toBe('done')
  })
})
