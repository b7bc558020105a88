/** Short sounds that say what the loop does: two rising tones for "heard", two falling ones for "failed". */
import type { AudioClip } from '../../speech/types.ts'
import type { EarconKind } from './loop-types.ts'

const SAMPLE_RATE = 24_000
const TONE_SECONDS = 0.06
/** Fades of each tone, so that nothing clicks. */
const FADE_SECONDS = 0.01
/** Quiet beside speech. */
const LEVEL = 0.12
/** Hertz; a fifth apart. */
const TONES: Readonly<Record<EarconKind, readonly number[]>> = { heard: [660, 990], failed: [440, 294] }

export function createEarcon(kind: EarconKind): AudioClip {
  const length = Math.round(TONE_SECONDS * SAMPLE_RATE)
  const tones = TONES[kind]
  const samples = new Float32Array(length * tones.length)
  for (const [tone, hertz] of tones.entries()) {
    for (let at = 0; at < length; at++) {
      const edge = Math.min(at, length - 1 - at) / (FADE_SECONDS * SAMPLE_RATE)
      const fade = Math.min(1, edge)
      samples[tone * length + at] = LEVEL * fade * Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE)
    }
  }
  return { samples, sampleRate: SAMPLE_RATE }
}
