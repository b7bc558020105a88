/** `onsight transcribe`: what is said in a recording. */
import type { SampleEncoding } from '../audio/pcm.ts'
import type { PrecisionName } from '../models/precision.ts'
import type { AudioClip, TranscriptFinished, TranscriptSegment } from '../speech/types.ts'
import { readAudioInput } from './audio-input.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { findFile, STDIN_NAME } from './pictures.ts'
import { formatSeconds } from './quantities.ts'
import { formatSubtitle, formatTime, type SubtitleFormat, subtitleHead } from './subtitles.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { type TranscribeMessages, transcribeMessagesFor } from './transcribe-messages.ts'
import { withRecognizer } from './with-recognizer.ts'

export interface TranscribeCommandOptions extends TerminalOptions {
  readonly language: string
  readonly timestamps?: boolean
  readonly subtitles?: SubtitleFormat
  readonly context?: string
  readonly model?: string
  readonly precision?: PrecisionName
  readonly threads?: number
  readonly encoding: SampleEncoding
  readonly rate: number
  readonly channels: number
  readonly json?: boolean
}

export async function runTranscribe(
  audioName: string,
  options: TranscribeCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = transcribeMessagesFor(context.env)
  // Before a model is loaded.
  if (audioName !== STDIN_NAME) await findFile(audioName)
  const { model, precision, threads, language, subtitles } = options
  const load = { model, ...(precision && { precision }), ...(threads !== undefined && { threads }) }
  return withRecognizer(context, terminal, load, async (recognizer) => {
    const timestamps = options.timestamps === true || subtitles !== undefined
    const { signal } = context.interrupts
    const events = recognizer.transcribe(await openAudio(audioName, options, context), {
      language,
      timestamps,
      ...(options.context !== undefined && { context: options.context }),
      signal,
    })
    const isText = !options.json
    if (isText && subtitles) terminal.answer(subtitleHead(subtitles))
    let count = 0
    for await (const event of events) {
      if (event.type === 'segment-finished' && isText) {
        count++
        terminal.progress.clear()
        terminal.answer(formatSegment(event.segment, count, options))
      }
      if (event.type === 'transcript-finished') report(event, options, terminal, messages)
    }
    return context.interrupts.exitCode ?? EXIT.done
  })
}

async function openAudio(
  name: string,
  { encoding, rate, channels }: TranscribeCommandOptions,
  context: CommandContext,
): Promise<AsyncIterable<AudioClip>> {
  if (name === STDIN_NAME) return readAudioInput(context.stdin, { encoding, sampleRate: rate, channels })
  const { readAudioFile } = await context.loadSpeech()
  return readAudioFile(name, context.interrupts.signal)
}

function formatSegment(
  segment: TranscriptSegment,
  number: number,
  { timestamps, subtitles }: TranscribeCommandOptions,
): string {
  if (subtitles) return formatSubtitle(segment, number, subtitles)
  const times = timestamps ? `[${formatTime(segment.start)} → ${formatTime(segment.end)}] ` : ''
  return `${times}${segment.text}\n`
}

function report(
  { type: _, ...transcript }: TranscriptFinished,
  { json }: TranscribeCommandOptions,
  terminal: Terminal,
  messages: TranscribeMessages,
): void {
  if (json) {
    terminal.json(transcript)
    return
  }
  const { text, language, languageProbability, duration, timings, finishReason } = transcript
  if (finishReason === 'aborted') return
  if (text === '') terminal.note(messages.nothingHeard)
  else if (terminal.showsProgress) {
    const speed = ((duration * 1000) / timings.totalMs).toFixed(1)
    terminal.note(
      messages.heard(language, Math.round(languageProbability * 100), formatSeconds(duration), speed),
    )
  }
}
