import { RealFft } from '../../audio/fft.ts'
import { hannWindow } from '../../audio/mel-filters.ts'
import { multiply, rectify, sigmoid } from './matrix-vector.ts'
import type { SileroWeights } from './weights.ts'

/*
 * Silero VAD v6.2 at 16 kHz: the magnitudes of four overlapping frames, four convolutions, an LSTM cell, a sigmoid.
 * Source of the shapes: `silero_vad_16k_op15.onnx` of silero-vad 6.2.3 (snakers4/silero-vad, MIT licence).
 */

/** Samples of one step, 32 ms. */
export const SILERO_CHUNK = 512
/** Samples of the step before that are seen again. */
const CONTEXT = 64
const FFT_LENGTH = 256
const FFT_HOP = 128
const BINS = FFT_LENGTH / 2 + 1
const FRAMES = 4
/** What one step sees: context, new samples, and as many mirrored as the context has. */
const SEEN = CONTEXT + SILERO_CHUNK + CONTEXT
const CONV1 = 128
const CONV2 = 64
const CONV3 = 64
const STATE = 128

/** Tells how likely each 32 ms hold speech. Keeps its state from step to step. */
export class SileroVad {
  readonly #weights: SileroWeights
  readonly #fft = new RealFft(FFT_LENGTH)
  readonly #hann = hannWindow(FFT_LENGTH)
  readonly #seen = new Float32Array(SEEN)
  readonly #frame = new Float64Array(FFT_LENGTH)
  readonly #power = new Float64Array(BINS)
  /** One frame of zeros before and after, as the convolutions pad. */
  readonly #magnitudes = new Float32Array((FRAMES + 2) * BINS)
  readonly #features1 = new Float32Array((FRAMES + 1) * CONV1)
  readonly #features2 = new Float32Array(2 * CONV2)
  readonly #features3 = new Float32Array(CONV3)
  /** Input of the cell, then its hidden state. */
  readonly #cellInput = new Float32Array(2 * STATE)
  readonly #cell = new Float32Array(STATE)
  readonly #gates = new Float32Array(4 * STATE)
  readonly #hidden = new Float32Array(STATE)
  readonly #output = new Float32Array(1)

  constructor(weights: SileroWeights) {
    this.#weights = weights
  }

  /** Probability of speech, 0 to 1, in `samples[from ... from + 512)` of 16 kHz. */
  run(samples: Float32Array, from = 0): number {
    this.#transform(samples, from)
    const { conv1, conv2, conv3, conv4, head } = this.#weights
    for (let frame = 0; frame < FRAMES; frame++) {
      multiply(conv1, this.#magnitudes, frame * BINS, this.#features1, (frame + 1) * CONV1)
    }
    rectify(this.#features1, CONV1, this.#features1.length)
    multiply(conv2, this.#features1, 0, this.#features2, 0)
    multiply(conv2, this.#features1, 2 * CONV1, this.#features2, CONV2)
    rectify(this.#features2, 0, this.#features2.length)
    multiply(conv3, this.#features2, 0, this.#features3, 0)
    rectify(this.#features3, 0, CONV3)
    multiply(conv4, this.#features3, 0, this.#cellInput, 0)
    rectify(this.#cellInput, 0, STATE)
    this.#stepCell()
    multiply(head, this.#hidden, 0, this.#output, 0)
    return sigmoid(this.#output[0] as number)
  }

  /** Forgets what it has heard. */
  reset(): void {
    this.#seen.fill(0)
    this.#cellInput.fill(0)
    this.#cell.fill(0)
  }

  #transform(samples: Float32Array, from: number): void {
    const seen = this.#seen
    seen.copyWithin(0, SILERO_CHUNK, SILERO_CHUNK + CONTEXT)
    seen.set(samples.subarray(from, from + SILERO_CHUNK), CONTEXT)
    const end = CONTEXT + SILERO_CHUNK
    for (let i = 0; i < CONTEXT; i++) seen[end + i] = seen[end - 2 - i] as number
    for (let frame = 0; frame < FRAMES; frame++) {
      for (let i = 0; i < FFT_LENGTH; i++) {
        this.#frame[i] = (seen[frame * FFT_HOP + i] as number) * (this.#hann[i] as number)
      }
      this.#fft.power(this.#frame, this.#power)
      for (let bin = 0; bin < BINS; bin++) {
        this.#magnitudes[(frame + 1) * BINS + bin] = Math.sqrt(this.#power[bin] as number)
      }
    }
  }

  #stepCell(): void {
    multiply(this.#weights.lstm, this.#cellInput, 0, this.#gates, 0)
    const gates = this.#gates
    for (let i = 0; i < STATE; i++) {
      const input = sigmoid(gates[i] as number)
      const forget = sigmoid(gates[STATE + i] as number)
      const candidate = Math.tanh(gates[2 * STATE + i] as number)
      const output = sigmoid(gates[3 * STATE + i] as number)
      const cell = forget * (this.#cell[i] as number) + input * candidate
      const hidden = output * Math.tanh(cell)
      this.#cell[i] = cell
      this.#cellInput[STATE + i] = hidden
      this.#hidden[i] = Math.max(hidden, 0)
    }
  }
}
