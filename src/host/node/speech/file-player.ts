/** Plays through a program that takes WAV files, one clip at a time. */
import { writeFile } from 'node:fs/promises'
import { encodeWav } from '../../../audio/encode-wav.ts'
import type { AudioClip, AudioPlayer } from '../../../speech/types.ts'
import { createScratchFolder } from '../scratch-folder.ts'
import type { ProgramHost } from './find-command.ts'
import type { PlayProgram } from './play-programs.ts'
import { levelAt, type PlayOptions, QueuedClip } from './play-queue.ts'
import { runProgram } from './run-program.ts'

export class FilePlayer implements AudioPlayer {
  readonly name: string
  readonly #program: PlayProgram
  readonly #command: string
  readonly #host: ProgramHost
  #tail: Promise<void> = Promise.resolve()
  #playing: { readonly clip: AudioClip; readonly startedAt: number } | undefined
  readonly #stop = new AbortController()

  constructor(program: PlayProgram, command: string, host: ProgramHost) {
    this.#program = program
    this.#command = command
    this.#host = host
    this.name = program.names[0] ?? command
  }

  play(clip: AudioClip, { signal, ...options }: PlayOptions = {}): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal
    const entry = new QueuedClip(clip, { ...options, signal: stop }, () => {})
    const before = this.#tail
    this.#tail = before.then(() => this.#play(entry, stop))
    return entry.done
  }

  level(): number {
    if (!this.#playing) return 0
    return levelAt(this.#playing.clip, (performance.now() - this.#playing.startedAt) / 1000)
  }

  async dispose(): Promise<void> {
    this.#stop.abort()
    await this.#tail
  }

  async #play(entry: QueuedClip, signal: AbortSignal): Promise<void> {
    if (entry.isOver) return
    const scratch = await createScratchFolder()
    try {
      const path = scratch.pathOf('clip.wav')
      await writeFile(path, encodeWav(entry.clip))
      this.#playing = { clip: entry.clip, startedAt: performance.now() }
      entry.start()
      await runProgram({
        command: this.#command,
        args: this.#program.args(entry.clip.sampleRate, path),
        env: { ...this.#host.env, ...this.#program.env?.(path) },
        signal,
      })
      entry.finish()
    } catch (error) {
      entry.fail(error)
    } finally {
      this.#playing = undefined
      await scratch.dispose()
    }
  }
}
