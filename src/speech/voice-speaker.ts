/** A voice that makes samples, behind a player: a speaker without gaps. */
import { createAbortError, isAbortError, throwIfAborted } from '../shared/abort.ts'
import type { AudioPlayer, SayOptions, Speaker, SpeakOptions, Voice } from './types.ts'

/** The voice and the player stay the caller's, who also disposes them. */
export function createVoiceSpeaker(voice: Voice, player: AudioPlayer): Speaker {
  return new VoiceSpeaker(voice, player)
}

class VoiceSpeaker implements Speaker {
  readonly name: string
  readonly languages: readonly string[]
  readonly #voice: Voice
  readonly #player: AudioPlayer
  /** One text is made at a time; the next is made while this one sounds. */
  #making: Promise<void> = Promise.resolve()
  readonly #stop = new AbortController()

  constructor(voice: Voice, player: AudioPlayer) {
    this.#voice = voice
    this.#player = player
    this.name = voice.info.name
    this.languages = voice.info.languages
  }

  async say(text: string, { signal, onStarted, ...options }: SayOptions = {}): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal
    const before = this.#making
    const playing: Promise<void>[] = []
    const making = before.then(() => this.#make(text, { ...options, signal: stop }, onStarted, playing))
    // Whoever comes next does not wait for what is stopped.
    this.#making = untilAborted(making, stop).catch(() => {})
    await untilAborted(making, stop)
    await Promise.all(playing)
  }

  level(): number {
    return this.#player.level?.() ?? 0
  }

  async dispose(): Promise<void> {
    this.#stop.abort()
  }

  async #make(
    text: string,
    options: SpeakOptions & { readonly signal: AbortSignal },
    onStarted: (() => void) | undefined,
    playing: Promise<void>[],
  ): Promise<void> {
    const { signal } = options
    throwIfAborted(signal)
    for await (const piece of this.#voice.synthesize(text, options)) {
      throwIfAborted(signal)
      const isFirst = playing.length === 0
      const played = this.#player.play(piece, { signal, ...(isFirst && onStarted && { onStarted }) })
      // A failure is reported when all pieces are waited for.
      played.catch(() => {})
      playing.push(played)
    }
  }
}

/** Rejects as soon as `signal` is aborted; what still runs is left to end by itself. */
function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(createAbortError())
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    promise
      .then(resolve, (error: unknown) => reject(isAbortError(error) ? createAbortError() : error))
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}
