import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeEvent, streamEvents } from './event-stream.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Ends when told to. */
async function* sayThenWait(texts: readonly string[], end: Promise<void>): AsyncGenerator<string> {
  yield* texts
  await end
}

describe('a stream of events', () => {
  it('shows life while there is nothing to say', async () => {
    const lost: string[] = []
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const stream = streamEvents(sayThenWait(['data: 1\n\n'], ended), { onLost: (why) => lost.push(why) })
    await vi.advanceTimersByTimeAsync(10_000)
    await vi.advanceTimersByTimeAsync(20_000)
    end()
    expect(await new Response(stream).text()).toBe(`data: 1\n\n${': still there\n\n'.repeat(2)}`)
    expect(lost).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('gives a reader up who takes nothing', async () => {
    const lost: string[] = []
    const big = 'x'.repeat(300_000)
    const stream = streamEvents(sayThenWait([big, 'more'], Promise.resolve()), {
      onLost: (why) => lost.push(why),
    })
    await vi.advanceTimersByTimeAsync(29_000)
    expect(lost).toEqual([])
    await vi.advanceTimersByTimeAsync(2000)
    expect(lost).toEqual(['reader-stalled'])
    await expect(new Response(stream).text()).rejects.toThrow('The reader was lost.')
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('events are a line of JSON, with or without a name', () => {
  expect(encodeEvent({ a: 'b\nc' })).toBe('data: {"a":"b\\nc"}\n\n')
  expect(encodeEvent(1, 'response.created')).toBe('event: response.created\ndata: 1\n\n')
})
