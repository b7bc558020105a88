/** Plays through the optional package `@echogarden/audio-io`, which asks for samples as the device needs them. */
import type { AudioClip, AudioPlayer } from '../../../speech/types.ts'
import { levelAt, type PlayOptions, QueuedClip } from './play-queue.ts'

/** What is used of the package. */
export interface AudioOutputModule {
  createAudioOutput(
    config: { readonly sampleRate: number; readonly channelCount: number; readonly bufferDuration: number },
    handler: (buffer: Int16Array) => void,
  ): Promise<{ dispose(): Promise<void> }>
}

/** Of the device's buffer: how late a sample sounds after it was asked for. */
const BUFFER_MS = 50
/** An output that plays nothing for so long is closed. */
const IDLE_MS = 1000

export class DevicePlayer implements AudioPlayer {
  readonly name = 'audio-io'
  readonly #module: AudioOutputModule
  readonly #queue: QueuedClip[] = []
  /** Sample of the first clip in the queue. */
  #offset = 0
  #output: { readonly sampleRate: number; readonly device: Promise<{ dispose(): Promise<void> }> } | undefined
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(module: AudioOutputModule) {
    this.#module = module
  }

  play(clip: AudioClip, options: PlayOptions = {}): Promise<void> {
    const entry = new QueuedClip(clip, options, (aborted) => this.#drop(aborted))
    if (!entry.isOver) {
      this.#queue.push(entry)
      void this.#prepare()
    }
    return entry.done
  }

  level(): number {
    const first = this.#queue[0]
    return first ? levelAt(first.clip, this.#offset / first.clip.sampleRate) : 0
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#idle)
    for (const entry of this.#queue.splice(0)) entry.fail(new Error('The player was disposed.'))
    await this.#close()
  }

  /** The output has the rate of the first clip. */
  async #prepare(): Promise<void> {
    clearTimeout(this.#idle)
    const first = this.#queue[0]
    if (!first) {
      this.#idle = setTimeout(() => void this.#close(), IDLE_MS)
      return
    }
    const { sampleRate } = first.clip
    if (this.#output?.sampleRate === sampleRate) return
    const before = this.#close()
    const config = { sampleRate, channelCount: 1, bufferDuration: BUFFER_MS }
    const device = before.then(() =>
      this.#module.createAudioOutput(config, (buffer) => this.#fill(buffer, sampleRate)),
    )
    this.#output = { sampleRate, device }
    try {
      await device
    } catch (error) {
      if (this.#output?.device === device) this.#output = undefined
      for (const entry of this.#queue.splice(0)) entry.fail(error)
    }
  }

  async #close(): Promise<void> {
    const output = this.#output
    this.#output = undefined
    await output?.device.then((device) => device.dispose()).catch(() => {})
  }

  #fill(buffer: Int16Array, sampleRate: number): void {
    buffer.fill(0)
    let at = 0
    for (;;) {
      const entry = this.#queue[0]
      if (!entry || entry.clip.sampleRate !== sampleRate || at === buffer.length) break
      entry.start()
      const samples = entry.clip.samples.subarray(this.#offset, this.#offset + buffer.length - at)
      for (const sample of samples)
        buffer[at++] = Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000)))
      this.#offset += samples.length
      if (this.#offset < entry.clip.samples.length) break
      this.#shift()
      setTimeout(() => entry.finish(), BUFFER_MS)
    }
  }

  #shift(): void {
    this.#queue.shift()
    this.#offset = 0
    void this.#prepare()
  }

  #drop(aborted: QueuedClip): void {
    const at = this.#queue.indexOf(aborted)
    if (at === 0) this.#shift()
    else if (at > 0) this.#queue.splice(at, 1)
  }
}
