import { EngineError } from '../../shared/errors.ts'

/**
 * The end of 32-bit addresses, then less: some systems set the whole of a shared memory aside when it is made, and
 * phones refuse (iOS 16.4 refused 2 GiB and gave 1).
 */
const MAXIMUM_PAGES = [65536, 32768, 16384]

/** A memory for all threads that may grow as far as the system allows. */
export function createSharedMemory(initialPages: number): WebAssembly.Memory {
  let cause: unknown
  for (const maximum of MAXIMUM_PAGES) {
    try {
      return new WebAssembly.Memory({ initial: initialPages, maximum, shared: true })
    } catch (error) {
      cause = error
    }
  }
  throw new EngineError('backend/out-of-memory', {
    message: 'The system gave no memory that threads can share.',
    hint: 'Close other programs or pages and load the model again.',
    cause,
  })
}
