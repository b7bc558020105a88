/** What a model hears of samples. */
export interface SpectrogramMaker {
  /** Log-mel spectrogram of 16 kHz samples, f32 (2 * positions, bands); behind the end of the samples there is silence. */
  make(samples: Float32Array, positions: number): Float32Array
}
