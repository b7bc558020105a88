/** Files of this machine, and models that were pulled to it. */
import { createNodeFileHost, type FindStoredModel } from '../host/node/file-host.ts'
import type { FileHost } from '../shared/model-files.ts'

export function createFileHost(): FileHost {
  return createNodeFileHost(findStored)
}

/** The store is loaded when a reference is no path. */
const findStored: FindStoredModel = async (reference) => {
  const [{ openModelHub }, { parseReference }, { DEFAULT_ENDPOINT }] = await Promise.all([
    import('./hub.node.ts'),
    import('../hub/reference.ts'),
    import('../hub/ports.ts'),
  ])
  if (parseReference(reference, DEFAULT_ENDPOINT) === undefined) return 'no-reference'
  const hub = await openModelHub()
  const found = await hub.find(reference)
  return found ? { location: found.model.location, fileName: found.fileName } : 'not-stored'
}
