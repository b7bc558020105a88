/**
 * Plays through a program that reads samples from a pipe. It tells nothing about where it is, so that is reckoned by the
 * clock, and known at the end, when the pipe is closed and the program ends.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { encodePcm } from '../../../audio/encode-wav.ts'
import type { AudioClip, AudioPlayer } from '../../../speech/types.ts'
import type { ProgramHost } from './find-command.ts'
import type { PlayProgram } from './play-programs.ts'
import { levelAt, type PlayOptions, QueuedClip } from './play-queue.ts'
import { failure, startProgram, stopProgram } from './run-program.ts'

/** From the first bytes to the first sound. */
const LATENCY_MS = 100
/** The next clip goes into the pipe so long before the end of the one that sounds: later clips can still be taken back. */
const AHEAD_MS = 400
/** A program that does not end long after its last sample is ended. */
const DRAIN_MS = 3000

interface Stream {
  readonly child: ChildProcessWithoutNullStreams
  readonly sampleRate: number
  readonly clips: { readonly entry: QueuedClip; readonly startsAt: number; readonly endsAt: number }[]
  isClosing: boolean
  stderr: string
}

export class PipePlayer implements AudioPlayer {
  readonly name: string
  readonly #program: PlayProgram
  readonly #command: string
  readonly #host: ProgramHost
  #waiting: QueuedClip[] = []
  #stream: Stream | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(program: PlayProgram, command: string, host: ProgramHost) {
    this.#program = program
    this.#command = command
    this.#host = host
    this.name = program.names[0] ?? command
  }

  play(clip: AudioClip, options: PlayOptions = {}): Promise<void> {
    const entry = new QueuedClip(clip, options, (aborted) => this.#drop(aborted))
    if (!entry.isOver) {
      this.#waiting.push(entry)
      this.#advance()
    }
    return entry.done
  }

  level(): number {
    const now = performance.now()
    const playing = this.#stream?.clips.find(({ startsAt, endsAt }) => now >= startsAt && now < endsAt)
    return playing ? levelAt(playing.entry.clip, (now - playing.startsAt) / 1000) : 0
  }

  async dispose(): Promise<void> {
    const entries = [...this.#waiting, ...(this.#stream?.clips.map(({ entry }) => entry) ?? [])]
    this.#waiting = []
    this.#stop()
    for (const entry of entries) entry.fail(failure({ command: this.#command }, 'the player was disposed'))
  }

  /** What is due now: clips that begin or end, the next one into the pipe, the end of the pipe. */
  #advance(): void {
    clearTimeout(this.#timer)
    const now = performance.now()
    const stream = this.#stream
    if (stream) {
      for (const { entry, startsAt, endsAt } of stream.clips) {
        if (now >= startsAt) entry.start()
        // The last one ends with the program.
        if (now >= endsAt && entry !== stream.clips.at(-1)?.entry) entry.finish()
      }
      while (stream.clips[0]?.entry.isOver && stream.clips.length > 1) stream.clips.shift()
    }
    this.#feed(now)
    this.#schedule(now)
  }

  #feed(now: number): void {
    const next = this.#waiting[0]
    const endsAt = this.#stream?.clips.at(-1)?.endsAt ?? 0
    if (next === undefined) {
      if (this.#stream && now >= endsAt) this.#close(this.#stream)
      return
    }
    if (this.#stream) {
      if (this.#stream.isClosing) return
      if (this.#stream.sampleRate !== next.clip.sampleRate) {
        if (now >= endsAt) this.#close(this.#stream)
        return
      }
      if (now < endsAt - AHEAD_MS) return
    }
    this.#waiting.shift()
    this.#stream ??= this.#open(next.clip.sampleRate)
    const startsAt = Math.max(endsAt, now + LATENCY_MS)
    const lengthMs = (next.clip.samples.length / next.clip.sampleRate) * 1000
    this.#stream.clips.push({ entry: next, startsAt, endsAt: startsAt + lengthMs })
    this.#stream.child.stdin.write(encodePcm(next.clip.samples, 's16le'))
    this.#feed(now)
  }

  #schedule(now: number): void {
    if (!this.#stream || this.#stream.isClosing) return
    const times = this.#stream.clips.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt, endsAt - AHEAD_MS])
    const next = Math.min(...times.filter((time) => time > now))
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#advance(), Math.ceil(next - now))
  }

  #open(sampleRate: number): Stream {
    const { env } = this.#host
    const child = startProgram({ command: this.#command, args: this.#program.args(sampleRate, ''), env })
    const stream: Stream = { child, sampleRate, clips: [], isClosing: false, stderr: '' }
    child.stdout.resume()
    child.stderr.on('data', (chunk: Buffer) => {
      stream.stderr = (stream.stderr + chunk.toString()).slice(-1000)
    })
    child.on('error', (cause) => this.#ended(stream, cause.message))
    child.on('close', (code) => {
      const isFailure = code !== null && code !== 0
      this.#ended(stream, isFailure ? stream.stderr.trim() || `it ended with code ${code}` : undefined)
    })
    return stream
  }

  /** Everything is in the pipe: the program ends when it has played it. */
  #close(stream: Stream): void {
    if (stream.isClosing) return
    stream.isClosing = true
    stream.child.stdin.end()
    this.#timer = setTimeout(() => stopProgram(stream.child), DRAIN_MS)
  }

  #ended(stream: Stream, reason: string | undefined): void {
    if (this.#stream !== stream) return
    this.#stream = undefined
    clearTimeout(this.#timer)
    for (const { entry } of stream.clips) {
      if (reason !== undefined) entry.fail(failure({ command: this.#command }, reason))
      else {
        entry.start()
        entry.finish()
      }
    }
    this.#advance()
  }

  /** A clip was aborted. If it is in the pipe already, the program must go; what else was in the pipe is played again. */
  #drop(aborted: QueuedClip): void {
    this.#waiting = this.#waiting.filter((entry) => entry !== aborted)
    const clips = this.#stream?.clips ?? []
    if (!clips.some(({ entry }) => entry === aborted)) return
    const others = clips.map(({ entry }) => entry).filter((entry) => !entry.isOver)
    this.#stop()
    this.#waiting.unshift(...others)
    this.#advance()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    const stream = this.#stream
    this.#stream = undefined
    if (stream) stopProgram(stream.child)
  }
}
