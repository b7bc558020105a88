/** A voice in the worker. */
import type { SpeakOptions, SpeechModelInfo, SpokenPiece, Voice } from 'onsight/speech'
import type { EngineSession } from './engine-session.ts'
import type { Handle, WirePlace } from './wire-messages.ts'

export async function loadWorkerVoice(
  session: EngineSession,
  place: WirePlace,
  signal: AbortSignal | undefined,
): Promise<Voice> {
  const handle = session.takeHandle()
  const info = await session.requests.run('load-voice', { handle, place }, { signal })
  return new WorkerVoice(session, handle, info)
}

class WorkerVoice implements Voice {
  readonly info: SpeechModelInfo
  readonly #session: EngineSession
  readonly #handle: Handle
  #disposing: Promise<void> | undefined

  constructor(session: EngineSession, handle: Handle, info: SpeechModelInfo) {
    this.#session = session
    this.#handle = handle
    this.info = info
  }

  synthesize(text: string, { signal, ...options }: SpeakOptions = {}): AsyncIterableIterator<SpokenPiece> {
    return this.#session.requests.stream('synthesize', () => ({
      ask: { voice: this.#handle, text, options },
      options: { signal },
    }))
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#session.giveBack(this.#handle)
    return this.#disposing
  }
}
