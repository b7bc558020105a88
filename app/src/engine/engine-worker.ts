/** The script of the engine's worker. */
import '../shell/own-scripts.ts'
import { loadModel, type ModelReference } from 'onsight'
import type { ToWorker, WirePlace } from './wire-messages.ts'
import { WorkerEngine } from './worker-engine.ts'
import { createWorkerHub } from './worker-hub.ts'

const hub = createWorkerHub(
  async (endpoint) => {
    const { openModelHub } = await import('onsight/hub')
    return openModelHub({ endpoint })
  },
  () => performance.now(),
)

async function open(place: WirePlace): Promise<ModelReference> {
  if ('address' in place) return place.address
  if ('files' in place) return place.files
  return hub.open(place.hub, place.stored)
}

const engine = new WorkerEngine(
  {
    loadModel: async (place, options) => loadModel(await open(place), options),
    async loadRecognizer(place, signal) {
      const { loadRecognizer } = await import('onsight/speech')
      return loadRecognizer(await open(place), { signal })
    },
    async loadVoice(place, signal) {
      const { loadVoice } = await import('onsight/speech')
      return loadVoice(await open(place), { signal })
    },
    hubHandlers: hub.handlers,
    holdLock(name, onHeld) {
      const untilTheEnd = new Promise<never>(() => {})
      void navigator.locks.request(name, () => {
        onHeld()
        return untilTheEnd
      })
    },
  },
  (message, transfer = []) => postMessage(message, { transfer: [...transfer] }),
)

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => engine.receive(data))
