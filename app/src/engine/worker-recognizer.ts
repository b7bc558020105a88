/** A recogniser in the worker. */
import type {
  AudioClip,
  ListeningSession,
  Recognizer,
  SpeechModelInfo,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
} from 'onsight/speech'
import type { EngineSession } from './engine-session.ts'
import type { Handle, WirePlace } from './wire-messages.ts'

export async function loadWorkerRecognizer(
  session: EngineSession,
  place: WirePlace,
  signal: AbortSignal | undefined,
): Promise<Recognizer> {
  const handle = session.takeHandle()
  const info = await session.requests.run('load-recognizer', { handle, place }, { signal })
  return new WorkerRecognizer(session, handle, info)
}

class WorkerRecognizer implements Recognizer {
  readonly info: SpeechModelInfo
  readonly #session: EngineSession
  readonly #handle: Handle
  #disposing: Promise<void> | undefined

  constructor(session: EngineSession, handle: Handle, info: SpeechModelInfo) {
    this.#session = session
    this.#handle = handle
    this.info = info
  }

  async *transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    { signal, ...options }: TranscribeOptions = {},
  ): AsyncGenerator<TranscriptEvent, void, undefined> {
    const recognizer = this.#handle
    if ('samples' in audio) {
      yield* this.#session.requests.stream('transcribe', () => ({
        ask: { recognizer, audio, options },
        options: { signal },
      }))
      return
    }
    const pieces = audio[Symbol.asyncIterator]()
    try {
      yield* this.#session.requests.stream('transcribe', () => ({
        ask: { recognizer, audio: undefined, options },
        options: {
          signal,
          nextAudio: async () => {
            const { done, value } = await pieces.next()
            return done ? undefined : value
          },
        },
      }))
    } finally {
      await pieces.return?.()
    }
  }

  listen({ signal, ...options }: TranscribeOptions = {}): ListeningSession {
    return new WorkerListening(this.#session, this.#handle, options, signal)
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#session.giveBack(this.#handle)
    return this.#disposing
  }
}

class WorkerListening implements ListeningSession {
  readonly #session: EngineSession
  readonly #handle: Handle
  /** Of `listen`: for every call that brings none of its own. */
  readonly #signal: AbortSignal | undefined

  constructor(
    session: EngineSession,
    recognizer: Handle,
    options: Omit<TranscribeOptions, 'signal'>,
    signal: AbortSignal | undefined,
  ) {
    this.#session = session
    this.#handle = session.takeHandle()
    this.#signal = signal
    session.post({ type: 'open-session', handle: this.#handle, recognizer, options })
  }

  /** Copied: whoever listens keeps the last moments of sound. */
  push(samples: Float32Array): void {
    this.#session.post({ type: 'push-samples', session: this.#handle, samples })
  }

  partial(signal: AbortSignal | undefined = this.#signal): Promise<string> {
    return this.#session.requests.run('listen-partial', { session: this.#handle }, { signal })
  }

  finish({ signal = this.#signal, ...options }: TranscribeOptions = {}): Promise<TranscriptFinished> {
    return this.#session.requests.run('listen-finish', { session: this.#handle, options }, { signal })
  }

  dispose(): void {
    this.#session.post({ type: 'close', handle: this.#handle })
  }
}
