/** Order of effects, and cancelling. */
import { isAbortError } from '../../shared/abort.ts'
import {
  addRows,
  type BehaviourCase,
  enqueueLongWork,
  expectEqual,
  expectFloats,
  floats,
  readFloats,
} from './behaviour.case.ts'

async function expectAborted(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )
  if (!isAbortError(outcome)) throw new Error(`expected an AbortError, found ${String(outcome)}`)
}

export const ORDER_CASES: readonly BehaviourCase[] = [
  {
    title: 'writes and operations take effect in the order of the calls',
    async run(backend) {
      const x = backend.alloc(8)
      const y = backend.alloc(8)
      backend.write(x, floats(1, 2))
      backend.write(y, floats(10, 20))
      addRows(backend, x, y, 2) // x = 11, 22
      backend.write(y, floats(100, 200))
      addRows(backend, x, y, 2) // x = 111, 222
      backend.write(x.at(4), floats(5)) // x = 111, 5
      addRows(backend, y, x, 2) // y = 211, 205
      expectFloats(await readFloats(backend, x, 2), 111, 5)
      expectFloats(await readFloats(backend, y, 2), 211, 205)
    },
  },
  {
    title: 'write copies: the bytes may change after the call',
    async run(backend) {
      const x = backend.alloc(4)
      const bytes = floats(7)
      backend.write(x, bytes)
      bytes.fill(0)
      expectFloats(await readFloats(backend, x, 1), 7)
    },
  },
  {
    title: 'read sees the work before the call and none after it',
    async run(backend) {
      const x = backend.alloc(4)
      const y = backend.alloc(4)
      backend.write(x, floats(1))
      backend.write(y, floats(1))
      addRows(backend, x, y, 1)
      const first = readFloats(backend, x, 1)
      addRows(backend, x, y, 1)
      const second = readFloats(backend, x, 1)
      backend.write(x, floats(50))
      expectFloats((await Promise.all([first, second])).flat(), 2, 3)
      expectFloats(await readFloats(backend, x, 1), 50)
    },
  },
  {
    title: 'read gives a copy that later work does not change',
    async run(backend) {
      const x = backend.alloc(4)
      backend.write(x, floats(3))
      const bytes = await backend.read(x, 4)
      backend.write(x, floats(4))
      await backend.flush()
      expectFloats([...new Float32Array(bytes.buffer)], 3)
    },
  },
  {
    title: 'flush resolves with nothing to do, twice, and several at once',
    async run(backend) {
      await backend.flush()
      await backend.flush()
      const x = backend.alloc(4)
      backend.write(x, floats(1))
      addRows(backend, x, x, 1)
      await Promise.all([backend.flush(), backend.flush(), backend.flush()])
      expectFloats(await readFloats(backend, x, 1), 2)
    },
  },
  {
    title: 'operations without rows change nothing',
    async run(backend) {
      const x = backend.alloc(8)
      backend.write(x, floats(1, 2))
      const empty = backend.alloc(0)
      backend.enqueue('addRows', { x, y: empty, rows: 0, columns: 2 })
      backend.enqueue('copyRows', { source: empty, out: x, rows: 0, columns: 2 })
      expectFloats(await readFloats(backend, x, 2), 1, 2)
    },
  },
  {
    title: 'view shows device memory, if there is one',
    async run(backend) {
      const x = backend.alloc(16)
      const view = backend.view(x.at(4), 8)
      if (view === undefined) return
      expectEqual('length of the view', view.byteLength, 8)
      view.set(floats(5, 6))
      expectFloats(await readFloats(backend, x.at(4), 2), 5, 6)
    },
  },
  {
    title: 'an aborted signal rejects flush and read with AbortError, and the backend stays usable',
    async run(backend) {
      const x = backend.alloc(4)
      backend.write(x, floats(1))
      await backend.flush()
      addRows(backend, x, x, 1)
      await expectAborted(backend.flush(AbortSignal.abort()))
      await expectAborted(backend.read(x, 4, AbortSignal.abort()))
      backend.write(x, floats(20))
      addRows(backend, x, x, 1)
      expectFloats(await readFloats(backend, x, 1), 40)
    },
  },
  {
    title: 'an abort stops long work between two operations, and none of it runs later',
    async run(backend) {
      const x = enqueueLongWork(backend)
      const controller = new AbortController()
      const flushed = backend.flush(controller.signal)
      setTimeout(() => controller.abort(), 1)
      await expectAborted(flushed)
      const y = backend.alloc(4)
      backend.write(x, floats(1))
      backend.write(y, floats(2))
      addRows(backend, x, y, 1)
      expectFloats(await readFloats(backend, x, 1), 3)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expectFloats(await readFloats(backend, x, 1), 3)
    },
  },
  {
    title: 'an abort of repeated work rejects the read behind it, though nothing else was enqueued',
    async run(backend) {
      const controller = new AbortController()
      const [rows, columns] = [64, 4096]
      const x = backend.alloc(rows * columns * 4)
      backend.write(x, new Uint8Array(rows * columns * 4))
      await backend.flush()
      backend.repeat({}, 0, 2, () => {
        for (let i = 0; i < 1000; i++) backend.enqueue('addRows', { x, y: x, rows, columns })
      })
      const bytes = backend.read(x, 4, controller.signal)
      setTimeout(() => controller.abort(), 1)
      await expectAborted(bytes)
      backend.write(x, floats(1))
      addRows(backend, x, x, 1)
      expectFloats(await readFloats(backend, x, 1), 2)
    },
  },
  {
    title: 'repeated work and reads in turn, many times: no thread falls behind or runs a list twice',
    async run(backend) {
      const [rows, columns] = [64, 16]
      const x = backend.alloc(rows * columns * 4)
      const y = backend.alloc(rows * columns * 4)
      backend.write(x, new Uint8Array(rows * columns * 4))
      backend.write(y, floats(...new Array<number>(rows * columns).fill(1)))
      const key = {}
      for (let round = 1; round <= 400; round++) {
        // Each read flushes behind a list that was already sent, which once sent an empty one.
        backend.repeat(key, 0, 2, () => {
          for (let i = 0; i < 5; i++) backend.enqueue('addRows', { x, y, rows, columns })
        })
        const last = await readFloats(backend, x.at((rows * columns - 1) * 4), 1)
        expectFloats(last, round * 5)
      }
    },
  },
  {
    title: 'a signal that is not aborted does not disturb, and may be aborted afterwards',
    async run(backend) {
      const controller = new AbortController()
      const x = backend.alloc(4)
      backend.write(x, floats(1))
      await backend.flush(controller.signal)
      controller.abort()
      expectFloats(await readFloats(backend, x, 1), 1)
    },
  },
]
