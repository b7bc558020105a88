/** `onsight say`: text aloud, or into a file, sentence by sentence as it comes. */
import { writeFile } from 'node:fs/promises'
import { encodePcm, encodeWav, encodeWavHeader } from '../audio/encode-wav.ts'
import { EngineError } from '../shared/errors.ts'
import { SpokenPieces } from '../speech/text/spoken-pieces.ts'
import type { AudioClip, SpeakOptions } from '../speech/types.ts'
import type { CommandContext, SpeechLibrary } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { openSpeaker, openVoice } from './open-voice.ts'
import { STDIN_NAME } from './pictures.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export interface SayCommandOptions extends TerminalOptions {
  readonly voice?: string
  readonly out?: string
  readonly language?: string
  readonly rate?: number
  readonly pitch?: number
  readonly listVoices?: boolean
}

export async function runSay(
  text: string | undefined,
  options: SayCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const library = await context.loadSpeech()
  if (options.listVoices) return listVoices(library, terminal)
  const pieces = piecesOf(text, options, context)
  const { language, rate, pitch } = options
  const speak: SpeakOptions = {
    ...(language !== undefined && { language }),
    ...(rate !== undefined && { rate }),
    ...(pitch !== undefined && { pitch }),
    signal: context.interrupts.signal,
  }
  if (options.out === undefined) await sayAloud(pieces, speak, options, context, terminal, library)
  else await writeSound(options.out, pieces, speak, options, context, terminal, library)
  return context.interrupts.exitCode ?? EXIT.done
}

async function listVoices(library: SpeechLibrary, terminal: Terminal): Promise<ExitCode> {
  const voices = await library.listPlatformVoices()
  if (voices.length === 0) {
    throw new EngineError('speech/no-voice', {
      message: 'This system has no voice of its own.',
      hint: 'Give a voice model: --voice FOLDER or --voice voice.onnx.',
    })
  }
  for (const { name, language } of voices) terminal.answer(`${name}\t${language}\n`)
  return EXIT.done
}

async function* piecesOf(
  text: string | undefined,
  { language }: SayCommandOptions,
  { stdin }: CommandContext,
): AsyncGenerator<string> {
  const pieces = new SpokenPieces(language === undefined ? {} : { language })
  if (text !== undefined && text !== STDIN_NAME) yield* pieces.push(text)
  else {
    if (stdin.isTTY) {
      throw new EngineError('option/text', {
        message: 'say: expected text, found none.',
        hint: 'onsight say "There is a dog on the left."',
      })
    }
    stdin.setEncoding('utf8')
    for await (const chunk of stdin) yield* pieces.push(String(chunk))
  }
  yield* pieces.finish()
}

async function sayAloud(
  pieces: AsyncIterable<string>,
  speak: SpeakOptions,
  { voice }: SayCommandOptions,
  context: CommandContext,
  terminal: Terminal,
  library: SpeechLibrary,
): Promise<void> {
  const speaker = await openSpeaker(context, terminal, library, voice)
  try {
    // One piece is said while the next is prepared.
    let saying = Promise.resolve()
    for await (const piece of pieces) {
      const next = speaker.say(piece, speak)
      next.catch(() => {})
      await saying
      saying = next
    }
    await saying
  } finally {
    await speaker.dispose()
  }
}

async function writeSound(
  path: string,
  pieces: AsyncIterable<string>,
  speak: SpeakOptions,
  options: SayCommandOptions,
  context: CommandContext,
  terminal: Terminal,
  library: SpeechLibrary,
): Promise<void> {
  const voice = await openVoice(context, terminal, library, options.voice)
  try {
    const clips: AudioClip[] = []
    let hasHeader = false
    for await (const piece of pieces) {
      for await (const clip of voice.synthesize(piece, speak)) {
        if (path !== STDIN_NAME) clips.push(clip)
        else {
          // A pipe gets sound as it is made; how long it will be is not known.
          if (!hasHeader) context.stdout.write(encodeWavHeader(clip.sampleRate, 's16le', undefined))
          hasHeader = true
          context.stdout.write(encodePcm(clip.samples, 's16le'))
        }
      }
    }
    if (path !== STDIN_NAME) await writeFile(path, encodeWav(joinClips(clips, voice.info.sampleRate)))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | null)?.code
    if (EngineError.isInstance(error) || code === undefined) throw error
    throw new EngineError('file/write-failed', {
      message: `${path} could not be written (${code}).`,
      cause: error,
    })
  } finally {
    await voice.dispose()
  }
}

function joinClips(clips: readonly AudioClip[], sampleRate: number): AudioClip {
  const samples = new Float32Array(clips.reduce((sum, clip) => sum + clip.samples.length, 0))
  let offset = 0
  for (const clip of clips) {
    samples.set(clip.samples, offset)
    offset += clip.samples.length
  }
  return { samples, sampleRate: clips[0]?.sampleRate ?? sampleRate }
}
