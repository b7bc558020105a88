/** What is said when there is no room for a model. */
import { EngineError } from '../shared/errors.ts'
import type { ModelStore } from './model-store.ts'

/** Left for everything else on the disk. */
const SPARE_BYTES = 64 * 1024 * 1024

/** Before anything is written, where the system tells reliably how much is free. */
export async function checkSpace(id: string, neededBytes: number, store: ModelStore): Promise<void> {
  // Everything is there and wants only to be verified, or no size is known.
  if (neededBytes === 0) return
  const freeBytes = await store.freeBytes()
  if (freeBytes === undefined || freeBytes >= neededBytes + SPARE_BYTES) return
  throw new EngineError('hub/no-space', {
    message: `${id} needs ${neededBytes} more bytes, and ${SPARE_BYTES} stay free; the disk has ${freeBytes}.`,
    hint: 'Free some space (onsight list, onsight rm), or keep models elsewhere with ONSIGHT_HOME.',
  })
}

/** A full disk is told of by the file that filled it, which does not know what is still to come. */
export function describeNeed(error: unknown, id: string, neededBytes: number): unknown {
  if (!EngineError.isInstance(error) || error.code !== 'hub/no-space') return error
  return new EngineError('hub/no-space', {
    message: `${id} needs ${neededBytes} more bytes. ${error.message}`,
    ...(error.hint !== undefined && { hint: error.hint }),
    cause: error,
  })
}
