import { MEL_SAMPLE_RATE } from '../../audio/whisper-mel.ts'
import { PassQueue } from '../../generation/pass-queue.ts'
import { isAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type {
  AudioClip,
  ListeningSession,
  Recognizer,
  SpeechModelInfo,
  TranscribeOptions,
  TranscriptEvent,
} from '../types.ts'
import { formatLanguage, parseLanguage } from './languages.ts'
import { LatestValue } from './latest-value.ts'
import { readSamples } from './read-samples.ts'
import type { WhisperParts } from './recognize-window.ts'
import { checkTranscribeOptions } from './transcribe-options.ts'
import { Transcription, type TranscriptSettings } from './transcription.ts'
import { WhisperListening } from './whisper-listening.ts'

export class WhisperRecognizer implements Recognizer {
  readonly #parts: WhisperParts
  readonly #info: Omit<SpeechModelInfo, 'allocatedBytes'>
  readonly #release: () => Promise<void>
  /** Transcripts and sessions share the model's run state, a window at a time. */
  readonly #queue = new PassQueue()
  #disposal: Promise<void> | undefined

  /** @param release Gives back what does not belong to the model itself: the backend where it is no one else's. */
  constructor(
    parts: WhisperParts,
    info: Omit<SpeechModelInfo, 'allocatedBytes' | 'languages' | 'sampleRate'>,
    release: () => Promise<void>,
  ) {
    const { languages } = parts.tokens
    this.#parts = parts
    this.#info = {
      ...info,
      sampleRate: MEL_SAMPLE_RATE,
      languages:
        languages.size === 0 ? ['en'] : [...languages.keys()].map((code) => formatLanguage(code, undefined)),
    }
    this.#release = release
  }

  get info(): SpeechModelInfo {
    return { ...this.#info, allocatedBytes: this.#disposal ? 0 : this.#parts.model.allocatedBytes }
  }

  transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    options: TranscribeOptions = {},
  ): AsyncIterableIterator<TranscriptEvent> {
    return this.#transcribe(audio, this.#readSettings(options), options.signal)
  }

  listen(options: TranscribeOptions = {}): ListeningSession {
    const settings = this.#readSettings(options)
    const transcription = new Transcription(this.#parts, this.#queue, settings)
    return new WhisperListening(transcription, options, (changed) => this.#readSettings(changed))
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#queue.run(async () => {
      this.#parts.model.dispose()
      await this.#release()
    })
    return this.#disposal
  }

  async *#transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    settings: TranscriptSettings,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<TranscriptEvent, undefined, undefined> {
    const transcription = new Transcription(this.#parts, this.#queue, settings)
    try {
      for await (const samples of readSamples(audio, MEL_SAMPLE_RATE, signal)) {
        transcription.push(samples)
        while (transcription.hasWindow) yield* hearWindow(transcription, signal)
      }
      while (!transcription.isHeard) yield* hearWindow(transcription, signal)
      yield transcription.finish('stop')
    } catch (error) {
      if (!isAbortError(error)) throw error
      yield transcription.finish('aborted')
    }
  }

  #readSettings(options: TranscribeOptions): TranscriptSettings {
    if (this.#disposal) {
      throw new EngineError('backend/disposed', {
        message: `${this.#info.name} was closed.`,
        hint: 'Load the recogniser again to go on.',
      })
    }
    checkTranscribeOptions(options)
    const { code, script } = parseLanguage(options.language ?? 'auto')
    if (code !== undefined) this.#checkLanguage(code)
    const { languages } = this.#parts.tokens
    return {
      language: languages.size === 0 ? 'en' : code,
      script,
      context: options.context ?? '',
      withTimestamps: options.timestamps ?? false,
      speechSeconds: options.speechSeconds,
    }
  }

  #checkLanguage(code: string): void {
    const { languages } = this.#parts.tokens
    if (languages.size === 0 ? code === 'en' : languages.has(code)) return
    throw new EngineError('option/language', {
      message:
        languages.size === 0
          ? `${this.#info.name} hears English only; found the language "${code}".`
          : `${this.#info.name} does not know the language "${code}".`,
      hint:
        languages.size === 0
          ? 'Use a multilingual model, such as Whisper base.'
          : `It knows ${this.#info.languages.join(', ')}.`,
    })
  }
}

async function* hearWindow(
  transcription: Transcription,
  signal: AbortSignal | undefined,
): AsyncGenerator<TranscriptEvent, undefined, undefined> {
  const texts = new LatestValue<string>()
  const hearing = transcription.hear(signal, { onText: (text) => texts.set(text) })
  let isOver = false
  hearing.then(
    () => {
      isOver = true
    },
    () => {
      isOver = true
    },
  )
  // The model goes on while whoever reads the events is busy; only the newest text is worth telling.
  while (!isOver) {
    const text = await texts.take(hearing)
    if (text !== undefined && !isOver) yield { type: 'partial-changed', text }
  }
  for (const segment of await hearing) yield { type: 'segment-finished', segment }
}
