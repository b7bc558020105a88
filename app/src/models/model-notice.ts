import type { EngineError } from 'onsight'

/** Why another model answers than the one that was chosen. */
export interface ModelNotice {
  /**
   * `missing`: the browser has cleared it, or somebody removed it. `damaged`: its files do not hold what they should.
   * `too-large`: it needs more memory than this device gives. `crashed`: the page was ended while it was loaded.
   */
  readonly reason: 'missing' | 'damaged' | 'too-large' | 'crashed'
  /** The model that was chosen. */
  readonly name: string
  /** Names the file and what is wrong with it, where something is known. */
  readonly error?: EngineError | undefined
}

const MEMORY_CODES = new Set(['backend/memory-limit', 'backend/out-of-memory'])
/** Areas of errors that are the fault of a model's files, whatever else is tried. */
const FILE_AREAS = /^(?:file|format|config|model|text)\//

/** Undefined for failures that the model is not to blame for. */
export function reasonOf({ code }: EngineError): ModelNotice['reason'] | undefined {
  if (code === 'hub/not-stored' || code === 'file/not-found') return 'missing'
  if (code === 'hub/damaged' || FILE_AREAS.test(code)) return 'damaged'
  return MEMORY_CODES.has(code) ? 'too-large' : undefined
}
