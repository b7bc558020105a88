/**
 * The system's own voice: `say` of macOS, System.Speech of Windows, Speech Dispatcher or eSpeak NG of Linux. Text goes to
 * it on standard input.
 */
import { readFile } from 'node:fs/promises'
import { WavDecoder } from '../../../audio/wav-decoder.ts'
import { createAbortError } from '../../../shared/abort.ts'
import { EngineError } from '../../../shared/errors.ts'
import { isChineseTag, isHan, isSpeakable } from '../../../speech/text/scripts.ts'
import { SentenceCutter } from '../../../speech/text/sentence-cutter.ts'
import type { SayOptions, Speaker, SpeakOptions, SpokenPiece, Voice } from '../../../speech/types.ts'
import { createScratchFolder } from '../scratch-folder.ts'
import { baseOf, chooseVoice, localeOf } from './choose-voice.ts'
import { findCommand, type ProgramHost } from './find-command.ts'
import { failure, type ProgramOutput, runProgram } from './run-program.ts'
import {
  type PlatformVoice,
  type ProgramCall,
  type SpeechProgram,
  type SpeechRequest,
  speechPrograms,
} from './speech-programs.ts'

export type { PlatformVoice } from './speech-programs.ts'

export interface PlatformVoiceOptions {
  /** As `listPlatformVoices` names it. Default: the first one of the language that is spoken. */
  readonly voice?: string
  readonly host?: ProgramHost
}

interface FoundProgram {
  readonly program: SpeechProgram
  readonly command: string
  readonly host: ProgramHost
  readonly voices: readonly PlatformVoice[]
}

const RATE = { least: 0.5, most: 3 }
const PITCH = { least: 0.5, most: 2 }
/** No voice says this many characters a second. */
const FASTEST = 60

/** What the system can speak with. Empty where there is nothing. */
export async function listPlatformVoices(host: ProgramHost = process): Promise<readonly PlatformVoice[]> {
  return (await findProgram(host))?.voices ?? []
}

/**
 * Speaks by itself, through the system's own output.
 *
 * @throws EngineError `speech/no-voice` where the system has none, or none of that name.
 */
export async function createPlatformSpeaker(options: PlatformVoiceOptions = {}): Promise<Speaker> {
  return new PlatformSpeaker(await requireProgram(options), options.voice)
}

/**
 * Makes samples, for files and players.
 *
 * @throws EngineError `speech/no-voice` as `createPlatformSpeaker`, also where it can only speak by itself.
 */
export async function createPlatformVoice(options: PlatformVoiceOptions = {}): Promise<Voice> {
  const found = await requireProgram(options, ({ write }) => write !== undefined)
  return new WritingVoice(found, options.voice)
}

class PlatformSpeaker implements Speaker {
  readonly name: string
  readonly languages: readonly string[]
  readonly #found: FoundProgram
  readonly #voice: string | undefined
  readonly #stop = new AbortController()
  #tail: Promise<void> = Promise.resolve()

  constructor(found: FoundProgram, voice: string | undefined) {
    this.#found = found
    this.#voice = voice
    this.name = voice ?? found.program.names[0] ?? ''
    this.languages = languagesOf(found.voices)
  }

  say(text: string, options: SayOptions = {}): Promise<void> {
    const stop = options.signal ? AbortSignal.any([options.signal, this.#stop.signal]) : this.#stop.signal
    const before = this.#tail
    const said = this.#say(text, options, stop, before)
    this.#tail = said.catch(() => {})
    return said
  }

  async dispose(): Promise<void> {
    this.#stop.abort()
    await this.#tail
  }

  async #say(text: string, options: SayOptions, signal: AbortSignal, before: Promise<void>): Promise<void> {
    await before
    if (signal.aborted) throw createAbortError()
    const { program } = this.#found
    const call = program.speak(requestFor(this.#found, this.#voice, text, options))
    options.onStarted?.()
    const startedAt = performance.now()
    try {
      const output = await run(this.#found, call, text, signal)
      checkSound(this.#found, text, output, performance.now() - startedAt)
    } catch (error) {
      if (signal.aborted && program.stop) await run(this.#found, program.stop, '').catch(() => {})
      throw error
    }
  }
}

/** Writes one sentence at a time to a file, as not every program can write to a pipe. */
class WritingVoice implements Voice {
  readonly info: Voice['info']
  readonly #found: FoundProgram
  readonly #voice: string | undefined

  constructor(found: FoundProgram, voice: string | undefined) {
    this.#found = found
    this.#voice = voice
    this.info = {
      name: voice ?? found.program.names[0] ?? '',
      architecture: 'platform',
      languages: languagesOf(found.voices),
      sampleRate: 22_050,
      fileBytes: 0,
      allocatedBytes: 0,
      loadMs: 0,
    }
  }

  async *synthesize(text: string, options: SpeakOptions = {}): AsyncIterableIterator<SpokenPiece> {
    const cutter = new SentenceCutter({ startsEarly: false })
    for (const sentence of [...cutter.push(text), ...cutter.finish()]) {
      if (isSpeakable(sentence)) yield await this.#write(sentence.trim(), options)
    }
  }

  async dispose(): Promise<void> {}

  async #write(text: string, options: SpeakOptions): Promise<SpokenPiece> {
    const scratch = await createScratchFolder()
    const path = scratch.pathOf('speech.wav')
    const call = this.#found.program.write?.(requestFor(this.#found, this.#voice, text, options), path)
    try {
      await run(this.#found, call ?? { args: [] }, text, options.signal)
      const decoder = new WavDecoder(this.info.name)
      const head = decoder.push(await readFile(path))
      const tail = decoder.finish()
      const samples = new Float32Array(head.length + tail.length)
      samples.set(head)
      samples.set(tail, head.length)
      return { text, samples, sampleRate: decoder.sampleRate ?? this.info.sampleRate }
    } finally {
      await scratch.dispose()
    }
  }
}

async function findProgram(
  host: ProgramHost,
  isFit: (program: SpeechProgram) => boolean = () => true,
): Promise<FoundProgram | undefined> {
  for (const program of speechPrograms(host.platform).filter(isFit)) {
    const command = findCommand(program.names, host)
    if (command === undefined) continue
    try {
      const { stdout } = await runProgram({ command, env: host.env, ...program.list })
      const voices = program.parseList(stdout.toString())
      if (voices.length > 0) return { program, command, host, voices }
    } catch {
      // A program that cannot list its voices, as without its daemon, cannot speak; the next may.
    }
  }
  return undefined
}

async function requireProgram(
  { voice, host = process }: PlatformVoiceOptions,
  isFit?: (program: SpeechProgram) => boolean,
): Promise<FoundProgram> {
  const found = await findProgram(host, isFit)
  if (found === undefined) {
    const { platform } = host
    throw new EngineError('speech/no-voice', {
      message: 'This system has no voice: no program that speaks was found.',
      hint:
        platform === 'linux'
          ? 'Install espeak-ng (for English), or give a voice model with --voice.'
          : 'Switch a voice on in the settings of the system, or give a voice model with --voice.',
    })
  }
  if (voice !== undefined && !found.voices.some(({ name }) => name === voice)) {
    throw new EngineError('speech/no-voice', {
      message: `There is no voice ${JSON.stringify(voice)} on this system; it has ${found.voices.length} others.`,
      hint: 'onsight say --list-voices names them.',
    })
  }
  return found
}

/** Which voice says a text, and how. */
function requestFor(
  { program, voices, host }: FoundProgram,
  voice: string | undefined,
  text: string,
  { language = 'en', rate = 1, pitch = 1 }: SpeakOptions,
): SpeechRequest {
  const isChinese = isHan(text) || isChineseTag(language)
  if (isChinese && !program.readsChinese) {
    throw new EngineError('speech/no-voice', {
      message: `${program.names[0]} cannot read Chinese characters aloud.`,
      hint: 'Give a Chinese voice model with --voice.',
    })
  }
  const spoken = isChinese && !isChineseTag(language) ? 'zh' : language
  const named = voices.find(({ name }) => name === voice)
  const found = named ?? chooseVoice(voices, spoken, localeOf(host.env))
  if (found === undefined) {
    throw new EngineError('speech/no-voice', {
      message: `This system has no voice for the language "${spoken}".`,
      hint: 'Install one in the settings of the system, or give a voice model with --voice.',
    })
  }
  const isSystemLanguage = baseOf(localeOf(host.env)) === baseOf(spoken)
  return {
    voice: (named ?? (program.takesLanguage || isSystemLanguage ? undefined : found))?.name,
    language: found.language,
    rate: Math.min(RATE.most, Math.max(RATE.least, rate)),
    pitch: Math.min(PITCH.most, Math.max(PITCH.least, pitch)),
  }
}

function languagesOf(voices: readonly PlatformVoice[]): readonly string[] {
  return [...new Set(voices.map(({ language }) => language))]
}

function run(
  { command, host }: FoundProgram,
  { args, env }: ProgramCall,
  text: string,
  signal?: AbortSignal,
): Promise<ProgramOutput> {
  return runProgram({
    command,
    args,
    env: { ...host.env, ...env },
    input: withoutCommands(text),
    ...(signal && { signal }),
  })
}

/** `[[` begins commands or phonemes in `say` and eSpeak; control characters are nothing to say. */
function withoutCommands(text: string): string {
  return `${text.replace(/\[\[+/g, '[').replace(/[^\P{C}\n]/gu, ' ')}\n`
}

/** Programs may end well without a sound where there is no device. */
function checkSound({ command }: FoundProgram, text: string, { stderr }: ProgramOutput, ms: number): void {
  const isTooShort = ms < (text.length / FASTEST) * 1000
  if (isTooShort && /cannot|fail|error|unable|no such/i.test(stderr)) {
    throw failure({ command }, `it made no sound: ${stderr.split('\n')[0]}`)
  }
}
