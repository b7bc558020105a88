import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Interrupts, untilAborted } from './interrupts.ts'

describe('Interrupts', () => {
  it('keeps the first interrupt', () => {
    const interrupts = new Interrupts()
    expect([interrupts.exitCode, interrupts.signal.aborted]).toEqual([undefined, false])
    interrupts.raise('SIGTERM')
    interrupts.raise('SIGINT')
    expect([interrupts.exitCode, interrupts.signal.aborted]).toEqual([143, true])
  })

  it('give two seconds, and more where a command needs them', () => {
    const interrupts = new Interrupts()
    expect(interrupts.graceMs).toBe(2000)
    interrupts.allowGrace(500)
    expect(interrupts.graceMs).toBe(2500)
  })
})

describe('untilAborted', () => {
  it('settles as the promise does and leaves no listener', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve(7), signal)).toBe(7)
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('rejects as soon as the signal is aborted, or when it is already', async () => {
    const controller = new AbortController()
    const waiting = untilAborted(new Promise(() => {}), controller.signal)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await expect(untilAborted(new Promise(() => {}), controller.signal)).rejects.toMatchObject({
      name: 'AbortError',
    })
  })
})
