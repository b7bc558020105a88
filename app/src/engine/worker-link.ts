/** Starts the engine's worker and notices when it is gone. */
import { workerAddress } from '../shell/connection.ts'
import type { EngineLink } from './engine-link.ts'
import script from './engine-worker.ts?worker&url'
import type { FromWorker } from './wire-messages.ts'

/**
 * Browsers say nothing when a worker is killed, but they give back the locks that it held. So the worker holds one as
 * long as it lives, and the page waits for it.
 */
export function startWorkerLink(): EngineLink {
  const worker = new Worker(workerAddress(script), { type: 'module', name: 'engine' })
  const lockName = `onsight.engine.${crypto.randomUUID()}`
  const stopWaiting = new AbortController()
  const messageListeners: ((message: FromWorker) => void)[] = []
  let onLost = (_reason: string): void => {}
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (data.type === 'lock-held') waitForEnd(data.name)
    else for (const listener of messageListeners) listener(data)
  })
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    onLost(event.message || 'its script could not be loaded')
  })
  worker.addEventListener('messageerror', () => onLost('a message of it could not be read'))
  const waitForEnd = (name: string): void => {
    navigator.locks
      .request(name, { signal: stopWaiting.signal }, () => onLost('the browser has ended it'))
      .catch(() => {}) // no longer waited for
  }
  if (navigator.locks) worker.postMessage({ type: 'hold-lock', name: lockName })
  return {
    post: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    onMessage: (listener) => void messageListeners.push(listener),
    onLost(listener) {
      onLost = listener
    },
    close() {
      stopWaiting.abort()
      worker.terminate()
    },
  }
}
