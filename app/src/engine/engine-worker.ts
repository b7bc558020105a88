/** The script of the engine's worker. */
import '../shell/own-scripts.ts'
import { EngineError, loadModel, type ModelReference } from 'onsight'
import type { ToWorker, WirePlace } from './wire-messages.ts'
import { WorkerEngine } from './worker-engine.ts'

async function open(place: WirePlace): Promise<ModelReference> {
  if ('address' in place) return place.address
  if ('files' in place) return place.files
  throw new EngineError('hub/not-stored', { message: `${place.stored} is not among the stored models.` })
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
