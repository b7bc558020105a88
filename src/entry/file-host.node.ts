/** Files of this machine, and models that were pulled to it. */
import { createNodeFileHost, type FindStoredModel } from '../host/node/file-host.ts'
import type { FileHost } from '../shared/model-files.ts'

export function createFileHost(): FileHost {
  return createNodeFileHost(findStored)
}

/** The store is loaded when a reference is no path: most are. */
const findStored: FindStoredModel = async (reference) => {
  const { openModelHub } = await import('./hub.node.ts')
  const hub = await openModelHub()
  if (!hub.isReference(reference)) return 'no-reference'
  const found = await hub.find(reference)
  return found ? { location: found.model.location, fileName: found.fileName } : 'not-stored'
}
