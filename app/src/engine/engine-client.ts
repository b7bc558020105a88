/** The engine as the page sees it: starts its worker when it is first needed, and a new one after a loss. */
import type { EngineError } from 'onsight'
import type { Engine, ModelPlace } from './engine.ts'
import type { EngineLink } from './engine-link.ts'
import { disposedError, EngineSession, type SessionClock } from './engine-session.ts'
import type { WirePlace } from './wire-messages.ts'
import { loadWorkerModel } from './worker-model.ts'
import { loadWorkerRecognizer } from './worker-recognizer.ts'
import { loadWorkerVoice } from './worker-voice.ts'

export interface EnginePorts {
  startWorker(): EngineLink
  /** Where a worker finds it: addresses and settings are the page's. */
  locate(place: ModelPlace): WirePlace
  readonly clock: SessionClock
}

export interface EngineClient extends Engine {
  /** The running worker's, started when there is none. */
  session(): EngineSession
  /** Called when a worker was lost by itself. Returns what ends that. */
  onLost(listener: (error: EngineError) => void): () => void
  /** Called whenever a worker ends, lost or given back: what was loaded there is gone. */
  onEnd(listener: () => void): void
}

export function createEngineClient({ startWorker, locate, clock }: EnginePorts): EngineClient {
  const listeners = new Set<(error: EngineError) => void>()
  const endListeners = new Set<() => void>()
  const tellEnd = (): void => {
    for (const listener of endListeners) listener()
  }
  let current: EngineSession | undefined
  const session = (): EngineSession => {
    if (current === undefined || current.isOver) {
      const started: EngineSession = new EngineSession(startWorker(), clock, (error) => {
        tellEnd()
        for (const listener of [...listeners]) listener(error)
      })
      current = started
    }
    return current
  }
  return {
    session,
    loadModel: async (place, options) => loadWorkerModel(session(), locate(place), options),
    loadRecognizer: async (place, { signal } = {}) => loadWorkerRecognizer(session(), locate(place), signal),
    loadVoice: async (place, { signal } = {}) => loadWorkerVoice(session(), locate(place), signal),
    onLost(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onEnd: (listener) => void endListeners.add(listener),
    dispose() {
      if (current && !current.isOver) {
        current.end(disposedError())
        tellEnd()
      }
      current = undefined
    },
  }
}
