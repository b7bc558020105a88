/** How fast this machine reads memory: what no kernel that has to read its weights can exceed. */
import type { Backend } from '../backend/backend.ts'
import type { Stopwatch } from './bench-speeds.ts'

/** Far more than caches hold. */
const ROWS = 512
const COLUMNS = 64 * 1024

/** Gigabytes a second that all threads of the backend read together. */
export async function measureReading(backend: Backend, watch: Stopwatch): Promise<number> {
  const x = backend.alloc(ROWS * COLUMNS * 4)
  const out = backend.alloc(ROWS * 4)
  try {
    const read = async (): Promise<void> => {
      backend.enqueue('xorRows', { x, out, rows: ROWS, columns: COLUMNS })
      await backend.flush(watch.signal)
    }
    // Memory that was never written is one page of zeros, which caches hold.
    const row = new Uint8Array(COLUMNS * 4).fill(1)
    for (let index = 0; index < ROWS; index++) backend.write(x.at(index * row.length), row)
    await read()
    return (ROWS * COLUMNS * 4) / (await watch.best(read)) / 1e9
  } finally {
    backend.free(x)
    backend.free(out)
  }
}
