/** One transcript in the making: samples go in at one end, segments of text come out at the other. */
import { MEL_SAMPLE_RATE } from '../../audio/whisper-mel.ts'
import type { PassQueue } from '../../generation/pass-queue.ts'
import type { TranscriptFinished, TranscriptSegment } from '../types.ts'
import { type ConvertScript, loadScriptConverter, scriptContext } from './chinese-script.ts'
import { type DetectedLanguage, maxContextTokens } from './decode.ts'
import { type ChineseScript, formatLanguage } from './languages.ts'
import { measureSpeech } from './measure-speech.ts'
import {
  recognizeWindow,
  type WhisperParts,
  type WindowRequest,
  type WindowResult,
} from './recognize-window.ts'
import { SampleWindow } from './sample-window.ts'
import { type HeardWindow, splitSegments, type TokenSegment } from './segments.ts'
import { SAMPLES_PER_POSITION } from './spectrogram.ts'

/** A rest that is shorter holds no word. */
const MIN_SECONDS = 0.1

/** Models stop early now and then, with a sentence still to come; shorter rests hold none. */
const MIN_REST_SECONDS = 1

/** What a transcript was asked for, checked. */
export interface TranscriptSettings {
  /** Undefined: to be detected, or the only one. */
  readonly language: string | undefined
  readonly script: ChineseScript | undefined
  readonly context: string
  readonly withTimestamps: boolean
  readonly speechSeconds: number | undefined
}

export class Transcription {
  readonly #parts: WhisperParts
  readonly #queue: PassQueue
  #settings: TranscriptSettings
  #convert: ConvertScript = (text) => text
  #convertsTo: ChineseScript | undefined
  readonly #samples = new SampleWindow()
  readonly #windowSamples: number
  readonly #startedAt = performance.now()
  readonly #segments: TranscriptSegment[] = []
  /** With the white space that the tokens have. */
  #text = ''
  /** Of the first window in which somebody spoke. */
  #language: DetectedLanguage | undefined
  /** Of the last window, even if nobody spoke. */
  #lastLanguage: DetectedLanguage | undefined
  /** Tokens of the window before, for the next one to go on from. */
  #previous: readonly number[] = []
  #encodeMs = 0
  #decodeMs = 0

  constructor(parts: WhisperParts, queue: PassQueue, settings: TranscriptSettings) {
    this.#parts = parts
    this.#queue = queue
    this.#settings = settings
    this.#windowSamples = parts.model.config.encoder.positions * SAMPLES_PER_POSITION
    this.settings = settings
  }

  /** Changes what is asked for, for what is not heard yet. */
  set settings(settings: TranscriptSettings) {
    this.#settings = settings
    if (settings.language !== undefined) this.#language = { code: settings.language, probability: 1 }
  }

  /** Samples of 16 kHz. */
  push(samples: Float32Array): void {
    this.#samples.push(samples)
  }

  /** More samples are there than a window takes, so that the first of them can be heard. */
  get hasWindow(): boolean {
    return this.#samples.length > this.#windowSamples
  }

  /** No sound is left to be heard. */
  get isHeard(): boolean {
    return this.#samples.length < MIN_SECONDS * MEL_SAMPLE_RATE
  }

  /** Text of all segments so far. */
  get text(): string {
    return this.#convert(this.#text).trim()
  }

  /**
   * Hears the next window, at the end of the sound what is left. Returns its segments.
   * @param onText Told what the segments' text is as yet.
   * @param draft Tokens of the last guess at the window.
   */
  async hear(
    signal: AbortSignal | undefined,
    { onText, draft }: { onText?: (text: string) => void; draft?: readonly number[] } = {},
  ): Promise<readonly TranscriptSegment[]> {
    const { tokenizer } = this.#parts
    const isLast = !this.hasWindow
    const samples = this.#samples.first(this.#windowSamples)
    const result = await this.#recognize({
      samples,
      measureSpeech: () => this.#measureSpeech(samples, isLast),
      ...(draft && { draft }),
      ...(onText && { onTokens: (ids: readonly number[]) => onText(this.#decode(ids).trim()) }),
      signal,
    })
    const { segments, ids, heardSeconds } = await this.#split(result.ids, samples, isLast)
    this.#lastLanguage = result.language
    if (result.ids.length > 0) this.#language ??= result.language
    // With its timestamps: a model that reads text without them stops writing them.
    this.#previous = result.isReliable ? ids : []
    for (const segment of segments) this.#text += tokenizer.decode(segment.ids)
    const kept = (this.#settings.withTimestamps ? segments : joinSegments(segments))
      .map((segment) => this.#place(segment))
      .filter(({ text }) => text !== '')
    this.#segments.push(...kept)
    this.#samples.drop(Math.round(heardSeconds * MEL_SAMPLE_RATE))
    return kept
  }

  /** Guesses at the window that is still filling up. Returns its tokens for the next guess to start from. */
  async guess(draft: readonly number[], signal: AbortSignal | undefined): Promise<readonly number[]> {
    const samples = this.#samples.first(this.#windowSamples)
    const { ids } = await this.#recognize({
      samples,
      measureSpeech: () => this.#measureSpeech(samples, false),
      draft,
      isPartial: true,
      signal,
    })
    return ids
  }

  /** Text of all segments and of the guess behind them. */
  textWith(guess: readonly number[]): string {
    return (this.#convert(this.#text) + this.#decode(guess)).trim()
  }

  finish(finishReason: TranscriptFinished['finishReason']): TranscriptFinished {
    const isEnglishOnly = this.#parts.tokens.languages.size === 0
    const { code, probability } = this.#language ??
      this.#lastLanguage ?? { code: 'en', probability: isEnglishOnly ? 1 : 0 }
    return {
      type: 'transcript-finished',
      text: this.text,
      language: formatLanguage(code, this.#settings.script),
      languageProbability: probability,
      segments: [...this.#segments],
      finishReason,
      duration: (this.#samples.dropped + this.#samples.length) / MEL_SAMPLE_RATE,
      timings: {
        totalMs: performance.now() - this.#startedAt,
        encodeMs: this.#encodeMs,
        decodeMs: this.#decodeMs,
      },
    }
  }

  async #recognize(request: Omit<WindowRequest, 'language' | 'contextFor'>): Promise<WindowResult> {
    await this.#loadConverter()
    const result = await this.#queue.run(() =>
      recognizeWindow(this.#parts, {
        ...request,
        language: this.#language?.code,
        contextFor: (language) => this.#contextFor(language),
      }),
    )
    this.#encodeMs += result.encodeMs
    this.#decodeMs += result.decodeMs
    return result
  }

  /** Segments, and how far the window was heard: not beyond the last of them where speech follows. */
  async #split(ids: readonly number[], samples: Float32Array, isLast: boolean): Promise<HeardWindow> {
    const windowSeconds = samples.length / MEL_SAMPLE_RATE
    const heard = splitSegments(ids, this.#parts.tokens, windowSeconds, isLast)
    const end = heard.segments.at(-1)?.end ?? windowSeconds
    const isCut = heard.heardSeconds < windowSeconds
    if (isCut || end < MIN_REST_SECONDS || windowSeconds - end < MIN_REST_SECONDS) return heard
    const rest = samples.subarray(Math.round(end * MEL_SAMPLE_RATE))
    return (await measureSpeech(rest)) < MIN_REST_SECONDS / 2 ? heard : { ...heard, heardSeconds: end }
  }

  /** What the caller's gate found holds for a sound that fits into one window. */
  async #measureSpeech(samples: Float32Array, isLast: boolean): Promise<number> {
    const known = isLast && this.#samples.dropped === 0 ? this.#settings.speechSeconds : undefined
    return known ?? measureSpeech(samples)
  }

  async #loadConverter(): Promise<void> {
    const { script } = this.#settings
    if (script === undefined || script === this.#convertsTo) return
    this.#convert = await loadScriptConverter(script)
    this.#convertsTo = script
  }

  #contextFor(language: string | undefined): readonly number[] {
    const { script, context } = this.#settings
    const isChinese = language === 'zh' || language === 'yue'
    const words = `${isChinese ? scriptContext(script) : ''}${context.trim()}`
    const given = words === '' ? [] : this.#parts.tokenizer.encode(isChinese ? words : ` ${words}`)
    return [...given, ...this.#previous].slice(-maxContextTokens(this.#parts.model))
  }

  /** A segment of the window, among those of the whole sound. */
  #place({ start, end, ids }: TokenSegment): TranscriptSegment {
    const offset = this.#samples.dropped / MEL_SAMPLE_RATE
    return { start: offset + start, end: offset + end, text: this.#decode(ids).trim() }
  }

  #decode(ids: readonly number[]): string {
    const { tokens, tokenizer } = this.#parts
    return this.#convert(tokenizer.decode(ids.filter((id) => id < tokens.endOfText)))
  }
}

/** One segment for a whole window. */
function joinSegments(segments: readonly TokenSegment[]): TokenSegment[] {
  const [first] = segments
  const last = segments.at(-1)
  return first && last ? [{ start: first.start, end: last.end, ids: segments.flatMap(({ ids }) => ids) }] : []
}
