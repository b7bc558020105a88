/** Sound: mono, float32 from -1 to 1. */
export interface AudioClip {
  readonly samples: Float32Array
  /** Samples a second. */
  readonly sampleRate: number
}

/**
 * Rates that files may name. Speech of less than 8 kHz is no telephone line but a damaged header; the fastest
 * converters that people record with take 192 000 samples a second.
 */
export const MIN_SAMPLE_RATE = 8000
export const MAX_SAMPLE_RATE = 192_000
