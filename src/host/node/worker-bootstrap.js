// Gives a worker script that is written for browsers the `self` it expects, then loads it.
import { parentPort, workerData } from 'node:worker_threads'

if (parentPort) {
  const port = parentPort
  const scope = {
    onmessage: /** @type {((event: { data: unknown }) => void) | null} */ (null),
    /** @param {unknown} message @param {{ transfer: ArrayBuffer[] }} options */
    postMessage: (message, options) => port.postMessage(message, options.transfer),
  }
  Object.assign(globalThis, { self: scope })
  await import(workerData.script)
  port.on('message', (data) => scope.onmessage?.({ data }))
}
