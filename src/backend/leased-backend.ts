/**
 * A backend that several models share, as one of them sees it: what it allocates is its own, and disposing of it gives
 * that back and nothing else.
 */
import { EngineError } from '../shared/errors.ts'
import type { Backend, DeviceBuffer } from './backend.ts'

export function leaseBackend(shared: Backend): Backend {
  const buffers = new Set<DeviceBuffer>()
  let disposal: Promise<void> | undefined
  const requireOpen = (): Backend => {
    if (disposal === undefined) return shared
    throw new EngineError('backend/disposed', {
      message: 'The model was closed, and its memory given back.',
      hint: 'Load it again to go on.',
    })
  }
  return {
    info: shared.info,
    get allocatedBytes() {
      return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
    },
    alloc(byteLength) {
      const buffer = requireOpen().alloc(byteLength)
      buffers.add(buffer)
      return buffer
    },
    free(buffer) {
      // What was given back with the lease must not be given back twice: others may have it by now.
      if (buffers.delete(buffer)) shared.free(buffer)
    },
    limitMemory: (byteLength) => requireOpen().limitMemory(byteLength),
    matrixByteLength: (type, rows, columns) => shared.matrixByteLength(type, rows, columns),
    enqueue: (op, args) => requireOpen().enqueue(op, args),
    repeat: (key, index, limit, enqueueAll) => requireOpen().repeat(key, index, limit, enqueueAll),
    write: (target, bytes) => requireOpen().write(target, bytes),
    view: (ref, byteLength) => requireOpen().view(ref, byteLength),
    flush: (signal) => requireOpen().flush(signal),
    read: (source, byteLength, signal) => requireOpen().read(source, byteLength, signal),
    dispose() {
      disposal ??= (async () => {
        // What is enqueued may still use the memory.
        await shared.flush().catch(() => {}) // whoever waits for it is told
        for (const buffer of buffers) shared.free(buffer)
        buffers.clear()
      })()
      return disposal
    },
  }
}
