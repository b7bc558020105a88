/**
 * Text of one window of sound: encoded as far as the sound goes, decoded, and decoded again in other ways as long as the
 * text can't be what was said.
 */
import { MEL_SAMPLE_RATE } from '../../audio/whisper-mel.ts'
import type { WhisperModel } from '../../models/whisper/whisper.ts'
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts'
import { isDoubtful, isSilence, repeatsItself } from './checks.ts'
import {
  type Decoded,
  type DetectedLanguage,
  decodeUtterance,
  detectLanguage,
  maxUtteranceTokens,
} from './decode.ts'
import { SAMPLES_PER_POSITION, type SpectrogramMaker } from './spectrogram.ts'
import type { WhisperTokens } from './whisper-tokens.ts'

/** A Whisper model with all that it takes to use it. */
export interface WhisperParts {
  readonly model: WhisperModel
  readonly tokenizer: Tokenizer
  readonly tokens: WhisperTokens
  readonly spectrograms: SpectrogramMaker
}

export interface WindowRequest {
  /** 16 kHz, at most one window. */
  readonly samples: Float32Array
  /** Undefined: to be detected. */
  readonly language: string | undefined
  /** Tokens of earlier text, for a language that is known by then. */
  readonly contextFor: (language: string | undefined) => readonly number[]
  /** Seconds of speech in the samples; asked only where it matters. */
  readonly measureSpeech: () => Promise<number>
  readonly draft?: readonly number[]
  /** Decode once and look at nothing: for text that will be replaced soon. */
  readonly isPartial?: boolean
  /** Told the tokens so far, each time they have changed. */
  readonly onTokens?: ((ids: readonly number[]) => void) | undefined
  readonly signal: AbortSignal | undefined
}

export interface WindowResult {
  /** Text and timestamps; none when nobody spoke. */
  readonly ids: readonly number[]
  readonly language: DetectedLanguage | undefined
  /** The text is sure enough to be context of the next window. */
  readonly isReliable: boolean
  readonly encodeMs: number
  readonly decodeMs: number
}

/**
 * Positions behind the end of the sound that are encoded too. Decoders that see less silence tend to repeat themselves;
 * 128 is also what whisper.cpp's users found (ggml-org/whisper.cpp#1855).
 */
const MARGIN_POSITIONS = 128
/** Far above what anybody says, far below the cap: loops in short sounds end early. */
const TOKENS_PER_SECOND = 20
const MIN_TOKENS = 24

const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1]
/** Text that was drawn more wildly than this is no context for what follows. */
const MAX_CONTEXT_TEMPERATURE = 0.5

/** Aborting rejects with an `AbortError`. */
export async function recognizeWindow(parts: WhisperParts, request: WindowRequest): Promise<WindowResult> {
  const { model, tokens } = parts
  const { samples, signal } = request
  const clock = { encodeMs: 0, decodeMs: 0, mark: performance.now() }
  const lap = (kind: 'encodeMs' | 'decodeMs'): void => {
    const now = performance.now()
    clock[kind] += now - clock.mark
    clock.mark = now
  }
  const whole = model.config.encoder.positions
  const trimmed = Math.min(whole, Math.ceil(samples.length / SAMPLES_PER_POSITION) + MARGIN_POSITIONS)
  await model.encode(parts.spectrograms.make(samples, trimmed), signal)
  lap('encodeMs')
  const language = await findLanguage(parts, request)
  const seconds = samples.length / MEL_SAMPLE_RATE
  const maxTokens = Math.min(maxUtteranceTokens(model), MIN_TOKENS + Math.ceil(seconds * TOKENS_PER_SECOND))
  const attempt = (temperature: number, draft: readonly number[]): Promise<Decoded> =>
    decodeUtterance({
      model,
      tokens,
      language: language?.code,
      context: request.contextFor(language?.code),
      // They tie the text to the sound: without them one trimmed sound in ten ends in a loop (docs/speech.md).
      withTimestamps: true,
      temperature,
      maxTokens,
      draft,
      onTokens: request.onTokens,
      signal,
    })
  const finish = (ids: readonly number[], isReliable: boolean): WindowResult => {
    lap('decodeMs')
    return { ids, language, isReliable, encodeMs: clock.encodeMs, decodeMs: clock.decodeMs }
  }
  const attempts: Decoded[] = []
  for (const temperature of trimmed < whole ? [0, ...TEMPERATURES] : TEMPERATURES) {
    if (attempts.length === 1 && trimmed < whole) {
      lap('decodeMs')
      await model.encode(parts.spectrograms.make(samples, whole), signal)
      lap('encodeMs')
    }
    const decoded = await attempt(temperature, attempts.length === 0 ? (request.draft ?? []) : [])
    if (await isSilence(decoded, request.measureSpeech)) return finish([], false)
    const text = parts.tokenizer.decode(decoded.ids.filter((id) => id < tokens.endOfText))
    const isTrimmed = attempts.length === 0 && trimmed < whole
    const isBad = (isTrimmed && repeatsItself(text)) || (await isDoubtful(decoded, text))
    if (request.isPartial || !isBad) return finish(decoded.ids, temperature <= MAX_CONTEXT_TEMPERATURE)
    attempts.push(decoded)
  }
  return finish(chooseLeastBad(attempts), false)
}

/** All attempts failed a check: the likeliest text that came to an end, else the beginning of a loop. */
function chooseLeastBad(attempts: readonly Decoded[]): readonly number[] {
  const ended = attempts.filter(({ end }) => end === 'end')
  const candidates = ended.length > 0 ? ended : attempts
  const best = candidates.reduce((a, b) => (b.averageLogprob > a.averageLogprob ? b : a))
  return best.end === 'loop' ? cutLoop(best.ids) : best.ids
}

/** Leaves one of the stretches that the end repeats. */
export function cutLoop(ids: readonly number[]): readonly number[] {
  let shortest = ids
  for (let period = 1; period * 2 <= ids.length; period++) {
    let length = ids.length
    while (length > period && ids[length - 1] === ids[length - 1 - period]) length--
    // The run of equal tokens that is left begins with one whole stretch.
    if (ids.length - length >= period && length < shortest.length) shortest = ids.slice(0, length)
  }
  return shortest
}

async function findLanguage(
  { model, tokens }: WhisperParts,
  { language, signal }: WindowRequest,
): Promise<DetectedLanguage | undefined> {
  if (tokens.languages.size === 0) return undefined
  return language === undefined ? detectLanguage(model, tokens, signal) : { code: language, probability: 1 }
}
