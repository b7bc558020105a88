import { afterEach, describe, expect, it, vi } from 'vitest'
import { createBrowserWorkerHost } from './worker-host.ts'

afterEach(() => vi.unstubAllGlobals())

describe('threads', () => {
  it.each([
    [undefined, 1],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [8, 4],
    [32, 4],
  ])('%d logical cores: %d', (hardwareConcurrency, expected) => {
    vi.stubGlobal('navigator', { hardwareConcurrency })
    expect(createBrowserWorkerHost().defaultThreads).toBe(expected)
  })

  it.each([true, false, undefined])('memory is shared when the page is isolated: %s', (isIsolated) => {
    vi.stubGlobal('navigator', {})
    vi.stubGlobal('crossOriginIsolated', isIsolated)
    expect(createBrowserWorkerHost().canShareMemory).toBe(isIsolated === true)
  })
})

class FakeWorker extends EventTarget {
  readonly posted: unknown[] = []
  isTerminated = false
  postMessage(...message: unknown[]): void {
    this.posted.push(message)
  }
  terminate(): void {
    this.isTerminated = true
  }
}

describe('a worker', () => {
  function spawn() {
    vi.stubGlobal('navigator', {})
    const worker = new FakeWorker()
    const host = createBrowserWorkerHost({ worker: () => worker as unknown as Worker })
    return { worker, port: host.spawnComputeWorker('name') }
  }

  it('sends, receives and ends', async () => {
    const { worker, port } = spawn()
    const received: unknown[] = []
    port.onMessage((message) => received.push(message))
    const bytes = new ArrayBuffer(4)
    port.postMessage({ bytes }, [bytes])
    worker.dispatchEvent(new MessageEvent('message', { data: { type: 'ready' } }))
    port.setActive(false)
    await port.terminate()
    expect(worker.posted).toEqual([[{ bytes }, [bytes]]])
    expect(received).toEqual([{ type: 'ready' }])
    expect(worker.isTerminated).toBe(true)
  })

  it.each([
    [Object.assign(new Event('error'), { message: 'boom' }), 'boom'],
    [
      new Event('error'),
      'its script could not be fetched. It must come from the origin of the page and be allowed by worker-src.',
    ],
    [new Event('messageerror'), 'a message could not be read'],
  ])('says why it failed', (event, message) => {
    const { worker, port } = spawn()
    const errors: unknown[] = []
    port.onError((error) => errors.push(error))
    worker.dispatchEvent(event)
    expect(errors).toEqual([new Error(message)])
  })

  it('that cannot be made is an EngineError', () => {
    vi.stubGlobal('navigator', {})
    const host = createBrowserWorkerHost({
      worker: () => {
        throw new Error('Not allowed.')
      },
    })
    expect(() => host.spawnComputeWorker('name')).toThrow(
      expect.objectContaining({
        code: 'backend/worker-failed',
        message: 'The compute worker could not be started: Not allowed.',
      }),
    )
  })
})
