/** Memory, refusals of wrong calls, and the end of a backend. */
import type { Backend, BufferRef } from '../backend.ts'
import {
  addRows,
  type BehaviourCase,
  enqueueLongWork,
  expectEqual,
  expectFloats,
  floats,
  readFloats,
  rejectedCode,
  thrownCode,
} from './behaviour.case.ts'

/** More memory than any device of this decade has: 2^46 bytes. */
const IMPOSSIBLE_BYTES = 2 ** 46

/** As `thrownCode` of `view`; a backend whose memory cannot be shown may answer with undefined instead. */
function viewCode(backend: Backend, ref: BufferRef, byteLength: number): string {
  let shown: Uint8Array | undefined
  const code = thrownCode(() => {
    shown = backend.view(ref, byteLength)
  })
  return code === 'nothing thrown' && shown === undefined ? 'no view' : code
}

function expectViewRefused(backend: Backend, ref: BufferRef, byteLength: number, code: string): void {
  const found = viewCode(backend, ref, byteLength)
  if (found !== 'no view') expectEqual('view', found, code)
}

export const MEMORY_CASES: readonly BehaviourCase[] = [
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
      expectViewRefused(backend, y, 4, 'backend/freed-buffer')
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
      expectViewRefused(backend, x, 17, 'backend/out-of-bounds')
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
    title: 'a limit refuses what goes beyond it, and nothing else',
    async run(backend) {
      const first = backend.alloc(2 ** 20)
      backend.limitMemory(16 * 2 ** 20)
      const second = backend.alloc(8 * 2 ** 20)
      expectEqual(
        'beyond',
        thrownCode(() => backend.alloc(8 * 2 ** 20)),
        'backend/out-of-memory',
      )
      backend.free(second)
      const again = [backend.alloc(4 * 2 ** 20), backend.alloc(4 * 2 ** 20)]
      for (const buffer of [...again, first]) {
        backend.write(buffer, floats(3))
        expectFloats(await readFloats(backend, buffer, 1), 3)
        backend.free(buffer)
      }
      backend.limitMemory(0)
      expectEqual(
        'beyond what there is',
        thrownCode(() => backend.alloc(64 * 2 ** 20)),
        'backend/out-of-memory',
      )
      backend.limitMemory(128 * 2 ** 20)
      backend.free(backend.alloc(64 * 2 ** 20))
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
      expectViewRefused(backend, x, 4, 'backend/disposed')
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
