/** Sound of files: WAV by ourselves, everything else by an ffmpeg that is installed on this machine. */
import { spawn } from 'node:child_process'
import type { AudioClip } from '../../audio/audio-clip.ts'
import { SNIFFED_BYTES, sniffAudioFormat, unsupportedAudioError } from '../../audio/audio-format.ts'
import { decodePcmStream, decodeWavStream, readPieces } from '../../audio/audio-stream.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { openFile } from './file-source.ts'

/** What ffmpeg is asked for. */
const DECODED = { encoding: 'f32le', channels: 1, sampleRate: 16_000 } as const
/** Of ffmpeg's complaint, for messages. */
const MAX_COMPLAINT = 300

/**
 * The sound of a file as a stream of clips, whatever its length.
 *
 * @throws EngineError `file/…`; `audio/unsupported-format`, `audio/damaged` for what cannot be decoded.
 */
export async function* readAudioFile(path: string, signal?: AbortSignal): AsyncGenerator<AudioClip> {
  const source = await openFile(path)
  try {
    const head = await readBytes(source, 0, Math.min(SNIFFED_BYTES, source.byteLength))
    const format = sniffAudioFormat(head)
    if (format === 'wav') yield* decodeWavStream(readPieces(source, signal), path)
    else if (format === undefined) throw unsupportedAudioError(head, path, 'a sound file')
    else yield* decodePcmStream(decodeWithFfmpeg(path, head, signal), DECODED)
  } finally {
    await source.close()
  }
}

async function* decodeWithFfmpeg(
  path: string,
  head: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const arguments_ = ['-nostdin', '-v', 'error', '-protocol_whitelist', 'file', '-i', `file:${path}`, '-vn']
  const ffmpeg = spawn('ffmpeg', [...arguments_, '-f', 'f32le', '-ac', '1', '-ar', '16000', 'pipe:1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  })
  let complaint = ''
  ffmpeg.stderr.on('data', (text) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT)
  })
  const end = new Promise<number | null>((resolve, reject) => {
    ffmpeg.on('error', reject)
    ffmpeg.on('close', resolve)
  })
  end.catch(() => {}) // awaited below
  try {
    for await (const piece of ffmpeg.stdout) yield piece as Uint8Array
    const code = await end
    if (code === 0) return
    throw new EngineError('audio/damaged', {
      message: `${path}: ffmpeg could not decode it: ${complaint.trim() || `exit code ${code}`}.`,
      hint: 'The file may be damaged, or hold no sound.',
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw unsupportedAudioError(head, path, 'a WAV file (ffmpeg, which decodes others, is not installed)')
  } finally {
    ffmpeg.kill()
  }
}
