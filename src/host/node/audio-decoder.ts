import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AudioClip } from '../../audio/audio-clip.ts'
import { AUDIO_FORMAT_NAMES, type AudioFormat } from '../../audio/audio-format.ts'
import { decodePcmStream, decodeWavStream, readPieces } from '../../audio/audio-stream.ts'
import { type AudioDecoder, detectAudioFormat } from '../../audio/decoder.ts'
import { isAbortError, throwIfAborted } from '../../shared/abort.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createScratchFolder } from './scratch-folder.ts'

/** What compressed files are turned into: what recognisers take. */
const SAMPLE_RATE = 16000

/**
 * ffmpeg's names for what was found in the bytes. It is told the format and does not guess: some that it knows, such as
 * playlists, would make it open other files and addresses.
 */
const FFMPEG_NAMES: Readonly<Record<Exclude<AudioFormat, 'wav'>, string>> = {
  mp3: 'mp3',
  mp4: 'mp4',
  aac: 'aac',
  flac: 'flac',
  ogg: 'ogg',
  webm: 'matroska',
  aiff: 'aiff',
  amr: 'amr',
}

type Process = ChildProcessByStdio<Writable, Readable, Readable>

export interface AudioDecoderOptions {
  /** The program that decodes compressed files. Default: `ffmpeg` on the search path. */
  readonly command?: string
}

/** WAV files by code of ours, all else by ffmpeg where it is installed, piece by piece in bounded memory. */
export function createAudioDecoder({ command = 'ffmpeg' }: AudioDecoderOptions = {}): AudioDecoder {
  return {
    async *decode(source, signal) {
      throwIfAborted(signal)
      const format = await detectAudioFormat(source)
      if (format === 'wav') yield* decodeWavStream(readPieces(source, signal), source.name)
      else if (format === 'mp4') yield* decodeSeekable(command, source, signal)
      else yield* runDecoder(command, format, source, 'pipe:0', signal)
    },
  }
}

/** The table of an MP4 file often stands at its end, where a program that reads a pipe cannot go: it gets a copy. */
async function* decodeSeekable(
  command: string,
  source: ByteSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<AudioClip> {
  const scratch = await createScratchFolder()
  try {
    const path = scratch.pathOf('sound.mp4')
    const file = await open(path, 'wx')
    try {
      for await (const piece of readPieces(source, signal)) await file.writeFile(piece)
    } finally {
      await file.close()
    }
    yield* runDecoder(command, 'mp4', source, path, signal)
  } finally {
    await scratch.dispose()
  }
}

async function* runDecoder(
  command: string,
  format: Exclude<AudioFormat, 'wav'>,
  source: ByteSource,
  input: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<AudioClip> {
  const options = ['-v', 'error', '-nostdin', '-f', FFMPEG_NAMES[format], '-i', input]
  const output = ['-map', '0:a:0', '-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 'f32le', 'pipe:1']
  const child = spawn(command, [...options, ...output], { stdio: ['pipe', 'pipe', 'pipe'] })
  const stop = (): void => {
    child.kill('SIGKILL')
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const ended = endOf(child, command, format, source)
    const feeding = input === 'pipe:0' ? feed(child, source, signal) : Promise.resolve(child.stdin.end())
    // Both are awaited below, but may fail before that.
    for (const part of [ended, feeding]) part.catch(() => {})
    const pieces = decodePcmStream(child.stdout, { encoding: 'f32le', channels: 1, sampleRate: SAMPLE_RATE })
    for await (const clip of pieces) {
      throwIfAborted(signal)
      yield clip
    }
    await feeding
    throwIfAborted(signal)
    await ended
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** Writes the whole source. A program that stops reading says why on its way out: that its pipe broke is no news. */
async function feed(child: Process, source: ByteSource, signal: AbortSignal | undefined): Promise<void> {
  await pipeline(readPieces(source, signal), child.stdin).catch((error: unknown) => {
    if (EngineError.isInstance(error) || isAbortError(error)) throw error
  })
}

async function endOf(
  child: Process,
  command: string,
  format: AudioFormat,
  source: ByteSource,
): Promise<void> {
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, 400)
  })
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  }).catch((cause: unknown) => {
    throw new EngineError('audio/decoder-missing', {
      message:
        `${source.name}: files in ${AUDIO_FORMAT_NAMES[format]} format need the program "${command}", ` +
        `which could not be started: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Install ffmpeg, or convert the file to WAV elsewhere; WAV files need nothing.',
      cause,
    })
  })
  if (exitCode === 0) return
  const reason = complaint.trim().split('\n').slice(0, 2).join('; ') || `exit code ${exitCode}`
  throw new EngineError('audio/damaged', {
    message: `${source.name}: expected sound in ${AUDIO_FORMAT_NAMES[format]} format, but decoding failed: ${reason}.`,
    hint: 'The file looks cut off or damaged, or holds no sound; fetch or record it again.',
  })
}
