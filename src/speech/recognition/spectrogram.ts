import { MEL_HOP, WhisperMel } from '../../audio/whisper-mel.ts'
import { FRAMES_PER_POSITION } from '../../models/whisper/encoder.ts'

/** Samples that become one position of the encoder: 20 ms. */
export const SAMPLES_PER_POSITION = MEL_HOP * FRAMES_PER_POSITION

/** Makes spectrograms of one window after the other. */
export class SpectrogramMaker {
  readonly #mel: WhisperMel

  constructor(bands: number, windowSeconds: number) {
    this.#mel = new WhisperMel({ bands, windowSeconds })
  }

  /** f32 (2 * positions, bands) of at most a window of 16 kHz samples, with silence behind their end. */
  make(samples: Float32Array, positions: number): Float32Array {
    this.#mel.reset()
    this.#mel.push(samples)
    return this.#mel.features(positions * FRAMES_PER_POSITION)
  }
}
