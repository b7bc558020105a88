/** Whether decoded text can be what was said. Thresholds of openai/whisper `transcribe.py`. */
import type { Decoded } from './decode.ts'

/** Text that compresses better than this repeats itself. */
const MAX_COMPRESSION_RATIO = 2.4
/** Below, the model was guessing. */
const MIN_AVERAGE_LOGPROB = -1
/** Above, the model takes the sound for silence. */
const MAX_NO_SPEECH_PROBABILITY = 0.6

/** Less speech than any word takes. */
const LITTLE_SPEECH_SECONDS = 0.15
/** Whether `text` is to be decoded again in another way. */
export async function isDoubtful({ end, averageLogprob }: Decoded, text: string): Promise<boolean> {
  if (end !== 'end' || averageLogprob < MIN_AVERAGE_LOGPROB) return true
  return (await compressionRatio(text)) > MAX_COMPRESSION_RATIO
}

/**
 * Whether nobody spoke. The model's own word is not enough, since it also holds for text that is right; that it was
 * guessing must come to it, or that there was hardly any speech.
 *
 * @param measureSpeech Seconds of speech that a voice gate finds; asked only where it matters.
 */
export async function isSilence(
  { noSpeechProbability, averageLogprob }: Decoded,
  measureSpeech: () => Promise<number>,
): Promise<boolean> {
  if (noSpeechProbability <= MAX_NO_SPEECH_PROBABILITY) return false
  return averageLogprob < MIN_AVERAGE_LOGPROB || (await measureSpeech()) < LITTLE_SPEECH_SECONDS
}

/** The least that is taken for a repetition: "no, no" is none. */
const MIN_REPEATED_CHARACTERS = 4

/** Whether the text is one stretch over and over, the commonest fault where a decoder sees little silence. */
export function repeatsItself(text: string): boolean {
  const letters = [...text.toLowerCase().replace(/[\s\p{P}]/gu, '')]
  for (let period = MIN_REPEATED_CHARACTERS; period * 2 <= letters.length; period++) {
    if (letters.length % period !== 0) continue
    if (letters.every((letter, index) => letter === letters[index % period])) return true
  }
  return false
}

/** Bytes of the text over bytes of it compressed by zlib. */
export async function compressionRatio(text: string): Promise<number> {
  const bytes = new TextEncoder().encode(text)
  if (bytes.byteLength === 0) return 0
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return bytes.byteLength / (await new Response(compressed).arrayBuffer()).byteLength
}
