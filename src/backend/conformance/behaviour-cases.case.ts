/** What every backend does beyond computing: order, memory, cancelling, refusing, ending. */
import { isAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Backend, BufferRef } from '../backend.ts'
import { bytesOf } from './random.case.ts'

export interface BehaviourCase {
  readonly title: string
  /** Gets a backend of its own, which is disposed afterwards. Throws when the behaviour is wrong. */
  run(backend: Backend): Promise<void>
}

/** More memory than any device of this decade has: 2^46 bytes. */
const IMPOSSIBLE_BYTES = 2 ** 46

/** Enough work that an abort arrives in the middle, on slow and fast backends. */
const LONG_WORK = { operations: 3000, rows: 64, columns: 1024 }

function floats(...values: number[]): Uint8Array {
  return bytesOf(Float32Array.from(values))
}

async function readFloats(backend: Backend, ref: BufferRef, length: number): Promise<number[]> {
  const bytes = await backend.read(ref, length * 4)
  return [...new Float32Array(bytes.buffer)]
}

function expectFloats(found: readonly number[], ...expected: number[]): void {
  if (found.length !== expected.length || found.some((value, i) => value !== expected[i])) {
    throw new Error(`expected ${expected.join(', ')}, found ${found.join(', ')}`)
  }
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: expected ${String(expected)}, found ${String(found)}`)
}

function codeOf(error: unknown): string {
  return EngineError.isInstance(error) ? error.code : `no EngineError but ${String(error)}`
}

/** The code of the EngineError that `action` throws. */
function thrownCode(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    return codeOf(error)
  }
  return 'nothing thrown'
}

/** The code of the EngineError that the promise rejects with. */
async function rejectedCode(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => codeOf(error),
  )
}

async function expectAborted(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )
  if (!isAbortError(outcome)) throw new Error(`expected an AbortError, found ${String(outcome)}`)
}

function addRows(backend: Backend, x: BufferRef, y: BufferRef, columns: number): void {
  backend.enqueue('addRows', { x, y, rows: 1, columns })
}

function enqueueLongWork(backend: Backend): BufferRef {
  const { operations, rows, columns } = LONG_WORK
  const x = backend.alloc(rows * columns * 4)
  const y = backend.alloc(rows * columns * 4)
  for (const buffer of [x, y]) backend.write(buffer, bytesOf(new Float32Array(rows * columns).fill(1)))
  for (let i = 0; i < operations; i++) backend.enqueue('addRows', { x, y, rows, columns })
  return x
}

export const BEHAVIOUR_CASES: readonly BehaviourCase[] = [
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
  {
    title: 'allocatedBytes grows with alloc and is back after free, over many rounds',
    async run(backend) {
      const start = backend.allocatedBytes
      for (let round = 0; round < 200; round++) {
        const sizes = [4, 100, 65536, 1 << 20]
        const buffers = sizes.map((size) => backend.alloc(size))
        const total = sizes.reduce((sum, size) => sum + size, 0)
        if (backend.allocatedBytes < start + total) {
          throw new Error(`expected at least ${start + total} bytes in use, found ${backend.allocatedBytes}`)
        }
        // Neither in the order of allocation nor in reverse, so that gaps must be joined again.
        for (const index of [2, 0, 3, 1]) backend.free(buffers[index]!)
        expectEqual('bytes in use', backend.allocatedBytes, start)
      }
    },
  },
  {
    title: 'buffers do not overlap, and memory is used again after free',
    async run(backend) {
      const kept = backend.alloc(12)
      backend.write(kept, floats(1, 2, 3))
      const freed = backend.alloc(12)
      backend.write(freed, floats(7, 8, 9))
      backend.free(freed)
      const later = [12, 4, 1000].map((size) => backend.alloc(size))
      for (const buffer of later) backend.write(buffer, new Uint8Array(buffer.byteLength).fill(0xee))
      expectFloats(await readFloats(backend, kept, 3), 1, 2, 3)
    },
  },
  {
    title: 'work that was enqueued before free still gets its data',
    async run(backend) {
      const x = backend.alloc(4)
      const y = backend.alloc(4)
      backend.write(x, floats(1))
      backend.write(y, floats(2))
      addRows(backend, x, y, 1)
      backend.free(y)
      const next = backend.alloc(4)
      backend.write(next, floats(100))
      expectFloats(await readFloats(backend, x, 1), 3)
    },
  },
  {
    title: 'a second free does nothing',
    async run(backend) {
      const kept = backend.alloc(64)
      const used = backend.allocatedBytes
      const buffer = backend.alloc(64)
      backend.free(buffer)
      backend.free(buffer)
      expectEqual('bytes in use', backend.allocatedBytes, used)
      const [one, two] = [backend.alloc(64), backend.alloc(64)]
      backend.write(one, new Uint8Array(64).fill(1))
      backend.write(two, new Uint8Array(64).fill(2))
      expectEqual('first byte', (await backend.read(one, 64))[0], 1)
      backend.free(kept)
    },
  },
  {
    title: 'freed buffers are refused',
    async run(backend) {
      const x = backend.alloc(4)
      const y = backend.alloc(4)
      backend.free(y)
      expectEqual(
        'enqueue',
        thrownCode(() => addRows(backend, x, y, 1)),
        'backend/freed-buffer',
      )
      expectEqual(
        'write',
        thrownCode(() => backend.write(y, floats(1))),
        'backend/freed-buffer',
      )
      expectEqual(
        'view',
        thrownCode(() => backend.view(y, 4)),
        'backend/freed-buffer',
      )
      expectEqual('read', await rejectedCode(backend.read(y, 4)), 'backend/freed-buffer')
    },
  },
  {
    title: 'ranges outside of a buffer are refused',
    async run(backend) {
      const x = backend.alloc(16)
      const y = backend.alloc(12)
      expectEqual(
        'enqueue',
        thrownCode(() => addRows(backend, x, y, 4)),
        'backend/out-of-bounds',
      )
      expectEqual(
        'enqueue at',
        thrownCode(() => addRows(backend, x, y.at(8), 2)),
        'backend/out-of-bounds',
      )
      expectEqual(
        'at',
        thrownCode(() => x.at(17)),
        'backend/out-of-bounds',
      )
      expectEqual(
        'at below 0',
        thrownCode(() => x.at(-4)),
        'backend/out-of-bounds',
      )
      expectEqual(
        'write',
        thrownCode(() => backend.write(x.at(12), floats(1, 2))),
        'backend/out-of-bounds',
      )
      expectEqual(
        'view',
        thrownCode(() => backend.view(x, 17)),
        'backend/out-of-bounds',
      )
      expectEqual('read', await rejectedCode(backend.read(x.at(4), 16)), 'backend/out-of-bounds')
      await backend.read(x.at(16), 0)
    },
  },
  {
    title: 'wrong arguments are refused at enqueue, before any work',
    async run(backend) {
      const x = backend.alloc(64)
      const y = backend.alloc(64)
      const wrong: Record<string, unknown>[] = [
        { x, rows: 1, columns: 4 },
        { x, y, rows: 1, columns: 1.5 },
        { x, y, rows: -1, columns: 4 },
        { x, y, rows: 1, columns: 0 },
        { x, y: x.at(4), rows: 1, columns: 4 },
        { x, y: y.at(2), rows: 1, columns: 4 },
      ]
      const codes = wrong.map((args) => thrownCode(() => backend.enqueue('addRows', args as never)))
      expectEqual(
        'codes',
        codes.join(),
        [
          'backend/bad-argument',
          'backend/bad-argument',
          'backend/bad-argument',
          'backend/bad-argument',
          'backend/overlap',
          'backend/bad-argument',
        ].join(),
      )
    },
  },
  {
    title: 'impossible sizes are refused, and the backend stays usable',
    async run(backend) {
      const start = backend.allocatedBytes
      expectEqual(
        'huge',
        thrownCode(() => backend.alloc(IMPOSSIBLE_BYTES)),
        'backend/out-of-memory',
      )
      for (const size of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        expectEqual(
          `alloc(${size})`,
          thrownCode(() => backend.alloc(size)),
          'backend/bad-argument',
        )
      }
      expectEqual('bytes in use', backend.allocatedBytes, start)
      const x = backend.alloc(4)
      backend.write(x, floats(1))
      expectFloats(await readFloats(backend, x, 1), 1)
    },
  },
  {
    title: 'dispose twice; afterwards nothing is in use and everything is refused',
    async run(backend) {
      const x = backend.alloc(4)
      await backend.dispose()
      await backend.dispose()
      expectEqual('bytes in use', backend.allocatedBytes, 0)
      expectEqual(
        'alloc',
        thrownCode(() => backend.alloc(4)),
        'backend/disposed',
      )
      expectEqual(
        'enqueue',
        thrownCode(() => addRows(backend, x, x, 1)),
        'backend/disposed',
      )
      expectEqual(
        'write',
        thrownCode(() => backend.write(x, floats(1))),
        'backend/disposed',
      )
      expectEqual(
        'view',
        thrownCode(() => backend.view(x, 4)),
        'backend/disposed',
      )
      expectEqual('flush', await rejectedCode(backend.flush()), 'backend/disposed')
      expectEqual('read', await rejectedCode(backend.read(x, 4)), 'backend/disposed')
      backend.free(x)
    },
  },
  {
    title: 'dispose rejects calls that wait',
    async run(backend) {
      const x = enqueueLongWork(backend)
      const outcomes = [rejectedCode(backend.flush()), rejectedCode(backend.read(x, 4))]
      await backend.dispose()
      expectEqual('outcomes', (await Promise.all(outcomes)).join(), 'backend/disposed,backend/disposed')
    },
  },
]
