/** Plays clips one right after the other through Web Audio. */
import { createAbortError } from '../../../shared/abort.ts'
import type { AudioClip, AudioPlayer } from '../../../speech/types.ts'

/** Time to prepare a first clip. */
const LEAD_SECONDS = 0.05
/** What `level` looks at. */
const LEVEL_SECONDS = 0.05

interface Playing {
  readonly clip: AudioClip
  readonly source: AudioBufferSourceNode
  readonly startsAt: number
  readonly endsAt: number
}

/** To be made in the handler of a touch or click, as pages are silent before. */
export function createAudioPlayer(): AudioPlayer {
  return new BrowserPlayer()
}

class BrowserPlayer implements AudioPlayer {
  readonly name = 'Web Audio'
  readonly #context = new AudioContext()
  #playing: Playing[] = []

  play(
    clip: AudioClip,
    { signal, onStarted }: { readonly signal?: AbortSignal; readonly onStarted?: () => void } = {},
  ): Promise<void> {
    if (signal?.aborted) return Promise.reject(createAbortError())
    if (clip.samples.length === 0) return Promise.resolve()
    void this.#context.resume()
    const buffer = this.#context.createBuffer(1, clip.samples.length, clip.sampleRate)
    buffer.copyToChannel(new Float32Array(clip.samples), 0)
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#context.destination)
    const startsAt = Math.max(this.#context.currentTime + LEAD_SECONDS, this.#playing.at(-1)?.endsAt ?? 0)
    const playing = { clip, source, startsAt, endsAt: startsAt + buffer.duration }
    this.#playing.push(playing)
    const starting = setTimeout(() => onStarted?.(), (startsAt - this.#context.currentTime) * 1000)
    source.start(startsAt)
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(starting)
        signal?.removeEventListener('abort', onAbort)
        this.#playing = this.#playing.filter((other) => other !== playing)
        settle()
      }
      const onAbort = (): void => {
        source.onended = null
        source.stop()
        source.disconnect()
        end(() => reject(createAbortError()))
      }
      source.onended = () => end(resolve)
      signal?.addEventListener('abort', onAbort)
    })
  }

  level(): number {
    const now = this.#context.currentTime
    const playing = this.#playing.find(({ startsAt, endsAt }) => now >= startsAt && now < endsAt)
    if (!playing) return 0
    const { samples, sampleRate } = playing.clip
    const from = Math.max(0, Math.round((now - playing.startsAt - LEVEL_SECONDS / 2) * sampleRate))
    const part = samples.subarray(from, from + Math.round(LEVEL_SECONDS * sampleRate))
    let sum = 0
    for (const sample of part) sum += sample * sample
    return Math.sqrt(sum / Math.max(1, part.length))
  }

  async dispose(): Promise<void> {
    for (const { source } of this.#playing) source.stop()
    await this.#context.close()
  }
}
