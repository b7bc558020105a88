import { describe, expect, it } from 'vitest'
import { type PassLine, PassQueue } from './pass-queue.ts'

/** A clock that only work moves. */
let nowMs = 0
const now = (): number => nowMs

function busy(milliseconds: number): () => Promise<void> {
  return async () => {
    nowMs += milliseconds
  }
}

/** Runs `count` pieces one after the other, as a conversation does; each leaves its name. */
async function converse(
  line: PassLine,
  name: string,
  count: number,
  pieceMs: number,
  order: string[],
): Promise<void> {
  for (let piece = 0; piece < count; piece++) {
    await line.run(busy(pieceMs))
    order.push(name)
  }
}

describe('the queue', () => {
  it('runs one piece at a time, those of one line in order', async () => {
    const queue = new PassQueue()
    let running = 0
    const order: number[] = []
    const results = await Promise.all(
      [0, 1, 2, 3].map((index) =>
        queue.run(async () => {
          expect(++running).toBe(1)
          await new Promise((resolve) => setTimeout(resolve, 2))
          running--
          order.push(index)
          return index * 10
        }),
      ),
    )
    expect(order).toEqual([0, 1, 2, 3])
    expect(results).toEqual([0, 10, 20, 30])
  })

  it('goes on after a piece that failed', async () => {
    const queue = new PassQueue()
    const failed = queue.run(() => Promise.reject(new Error('No.')))
    const next = queue.run(async () => 'yes')
    await expect(failed).rejects.toThrow('No.')
    expect(await next).toBe('yes')
  })

  it('shares the time between long pieces and short ones', async () => {
    const queue = new PassQueue(now)
    const order: string[] = []
    const long = converse(queue.line(), 'L', 6, 40, order)
    const short = converse(queue.line(), 's', 30, 4, order)
    await Promise.all([long, short])
    // Ten short pieces take as long as a long one.
    const turn = 's'.repeat(10)
    expect(order.join('')).toBe(`L${turn}L${turn}L${turn}LLL`)
  })

  it('gives equals equal turns', async () => {
    const queue = new PassQueue(now)
    const order: string[] = []
    await Promise.all(['a', 'b', 'c'].map((name) => converse(queue.line(), name, 12, 4, order)))
    expect(order.join('')).toBe('abc'.repeat(12))
  })

  it('owes nothing to a line that wanted nothing', async () => {
    const queue = new PassQueue(now)
    const order: string[] = []
    const resting = queue.line()
    await converse(queue.line(), 'a', 10, 5, order)
    await Promise.all([converse(queue.line(), 'b', 8, 5, order), converse(resting, 'r', 8, 5, order)])
    expect(order.join('')).toBe(`${'a'.repeat(10)}${'br'.repeat(8)}`)
  })
})

describe('aborting', () => {
  it('takes a waiting piece out at once and leaves the others', async () => {
    const queue = new PassQueue()
    const controller = new AbortController()
    let release = (): void => {}
    const running = queue.run(() => new Promise<string>((resolve) => (release = () => resolve('first'))))
    let hasRun = false
    const waiting = queue.line().run(async () => {
      hasRun = true
    }, controller.signal)
    const other = queue.line().run(async () => 'other')
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    release()
    expect(await Promise.all([running, other])).toEqual(['first', 'other'])
    expect(hasRun).toBe(false)
  })

  it('before anything runs nothing', async () => {
    const queue = new PassQueue()
    let hasRun = false
    const run = queue.run(async () => {
      hasRun = true
    }, AbortSignal.abort())
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    expect(hasRun).toBe(false)
    expect(await queue.run(async () => 1)).toBe(1)
  })

  it('while it runs is the piece’s own affair', async () => {
    const queue = new PassQueue()
    const controller = new AbortController()
    const run = queue.run(async () => {
      controller.abort()
      return 'done'
    }, controller.signal)
    expect(await run).toBe('done')
  })
})
