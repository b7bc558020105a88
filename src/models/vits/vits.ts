/** A VITS voice on the device: from symbols to samples, sentence by sentence, in pieces of a second or two. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import type { FloatMatrixType } from '../../backend/ops.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { VitsConfig } from './config.ts'
import type { Scratch } from './convolution.ts'
import { type DurationWeights, loadDuration, predictDurations } from './duration.ts'
import { type FlowWeights, loadFlow, runFlow } from './flow.ts'
import { encodeText, loadTextEncoder, type TextEncoderWeights } from './text-encoder.ts'
import {
  decodeWaveform,
  loadWaveformDecoder,
  reachInFrames,
  samplesPerFrame,
  type WaveformDecoderWeights,
} from './waveform-decoder.ts'
import { WeightSource } from './weight-source.ts'

export interface VitsLoadOptions {
  readonly name: string
  /** How matrices are kept. */
  readonly type: FloatMatrixType
  /** Which speaker, from 0. */
  readonly speaker: number
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((loadedBytes: number) => void) | undefined
}

/** `count` numbers, normally distributed with variance 1. */
export type NormalNoise = (count: number) => Float32Array

export interface SpeakRequest {
  /** Symbols with the blanks that the voice was trained with, 1 to 2,000 of them. */
  readonly symbols: Int32Array
  /** Above 1 is faster. Default 1. */
  readonly rate?: number
  readonly noise: NormalNoise
  /** Frames that are decoded at a time. Default 96, about a second and a half. */
  readonly pieceFrames?: number
  readonly signal?: AbortSignal | undefined
  /** Sees values on the way, for comparing with the reference. */
  readonly onStage?: (stage: string, values: Float32Array) => void
}

/** Sound begins early, and memory stays small. */
const PIECE_FRAMES = 96
/** Longer texts are cut into sentences before; more would take gigabytes. */
const MAX_SYMBOLS = 2000
/** A symbol of a healthy voice lasts well below a second. */
const MAX_FRAMES_PER_SYMBOL = 200
const SCRATCH_BYTES = 4 * 1024 * 1024

export class Vits {
  readonly config: VitsConfig
  readonly #backend: Backend
  readonly #text: TextEncoderWeights
  readonly #duration: DurationWeights
  readonly #flow: FlowWeights
  readonly #decoder: WaveformDecoderWeights
  readonly #buffers: readonly DeviceBuffer[]
  readonly #scratch: Scratch

  private constructor(
    backend: Backend,
    config: VitsConfig,
    parts: {
      readonly text: TextEncoderWeights
      readonly duration: DurationWeights
      readonly flow: FlowWeights
      readonly decoder: WaveformDecoderWeights
    },
    buffers: readonly DeviceBuffer[],
  ) {
    this.config = config
    this.#backend = backend
    this.#text = parts.text
    this.#duration = parts.duration
    this.#flow = parts.flow
    this.#decoder = parts.decoder
    this.#buffers = buffers
    this.#scratch = { buffer: backend.alloc(SCRATCH_BYTES) }
  }

  /** @param tensors By the engine's names (`weights.ts`). */
  static async load(
    backend: Backend,
    config: VitsConfig,
    tensors: ReadonlyMap<string, TensorInfo>,
    { name, type, speaker, signal, onProgress }: VitsLoadOptions,
  ): Promise<Vits> {
    checkSizes(config, name, speaker)
    let loadedBytes = 0
    const source = new WeightSource(backend, tensors, name, type, (byteLength) => {
      throwIfAborted(signal)
      loadedBytes += byteLength
      onProgress?.(loadedBytes)
    })
    try {
      const { speakers, speakerDim } = config
      const embeddings =
        speakerDim > 0 ? await source.floats('emb_g.weight', speakers, speakerDim) : new Float32Array()
      const who = embeddings.subarray(speaker * speakerDim, (speaker + 1) * speakerDim)
      const text = await loadTextEncoder(source, config)
      const duration = await loadDuration(source, config, who)
      const flow = await loadFlow(source, config, who)
      const decoder = await loadWaveformDecoder(source, config, who, flow.isReversed)
      await source.settle()
      return new Vits(backend, config, { text, duration, flow, decoder }, source.takeBuffers())
    } catch (error) {
      await source.abandon()
      throw error
    }
  }

  /** Streams samples from -1 to 1; pieces follow each other without a gap. Rejects with an `AbortError` when aborted. */
  async *speak(request: SpeakRequest): AsyncGenerator<Float32Array, void, undefined> {
    const { pieceFrames = PIECE_FRAMES } = request
    const { latents, frames } = await this.#latents(request)
    const { channels } = this.config.flow
    const perFrame = samplesPerFrame(this.config)
    const reach = reachInFrames(this.config)
    for (let first = 0; first < frames; first += pieceFrames) {
      throwIfAborted(request.signal)
      const end = Math.min(first + pieceFrames, frames)
      const from = Math.max(0, first - reach)
      const to = Math.min(frames, end + reach)
      const rows = latents.subarray(from * channels, to * channels)
      const samples = await this.#decode(rows, to - from, request)
      // The last piece has what odd kernels add.
      yield samples.subarray(
        (first - from) * perFrame,
        end === frames ? samples.length : (end - from) * perFrame,
      )
    }
  }

  dispose(): void {
    for (const buffer of this.#buffers) this.#backend.free(buffer)
    this.#backend.free(this.#scratch.buffer)
  }

  async #latents(request: SpeakRequest): Promise<{ latents: Float32Array; frames: number }> {
    const { symbols, rate = 1, noise, signal, onStage } = request
    const { config } = this
    const { channels } = config.flow
    if (symbols.length === 0 || symbols.length > MAX_SYMBOLS) {
      throw new EngineError('speech/text-length', {
        message: `A voice says 1 to ${MAX_SYMBOLS} symbols at a time; found ${symbols.length}.`,
        hint: 'Cut the text into sentences.',
      })
    }
    const rows = symbols.length
    const { statistics, logs } = await this.#withTemporaries(async (temporary) => {
      const encoded = encodeText(this.#backend, config, this.#text, symbols, this.#scratch, temporary)
      const drawn = noise(rows * 2).map((value) => value * config.durationNoise)
      const logDurations = await predictDurations({
        backend: this.#backend,
        config,
        weights: this.#duration,
        hidden: encoded.hidden,
        rows,
        noise: drawn,
        scratch: this.#scratch,
        temporary,
        signal,
      })
      onStage?.('text_hidden', await this.#read(encoded.hidden, rows * config.dim, signal))
      const values = await this.#read(encoded.statistics, rows * 2 * channels, signal)
      return { statistics: values, logs: logDurations }
    })
    onStage?.('log_duration', logs)
    const durations = framesOf(logs, config.lengthScale / rate)
    const frames = durations.reduce((sum, count) => sum + count, 0)
    const halves = spread(statistics, durations, channels, noise(frames * channels), config.noise)
    const latents = await this.#withTemporaries(async (temporary) => {
      const half = channels / 2
      const places = halves.map((values) => {
        const place = temporary(values.length)
        this.#backend.write(place, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
        return place
      }) as unknown as readonly [BufferRef, BufferRef]
      runFlow(this.#backend, config, this.#flow, places, frames, this.#scratch, temporary)
      const [first, second] = [
        await this.#read(places[0], frames * half, signal),
        await this.#read(places[1], frames * half, signal),
      ]
      const joined = new Float32Array(frames * channels)
      for (let frame = 0; frame < frames; frame++) {
        joined.set(first.subarray(frame * half, (frame + 1) * half), frame * channels)
        joined.set(second.subarray(frame * half, (frame + 1) * half), frame * channels + half)
      }
      return joined
    })
    onStage?.(
      'latents',
      this.#flow.isReversed ? latents.map((_, i) => turned(latents, i, channels)) : latents,
    )
    return { latents, frames }
  }

  async #decode(
    latents: Float32Array,
    frames: number,
    { signal, onStage }: SpeakRequest,
  ): Promise<Float32Array> {
    return this.#withTemporaries(async (temporary) => {
      const place = temporary(latents.length)
      this.#backend.write(place, new Uint8Array(latents.buffer, latents.byteOffset, latents.byteLength))
      const seen: { stage: string; copy: DeviceBuffer; floats: number }[] = []
      const { samples, rows } = decodeWaveform(
        this.#backend,
        this.config,
        this.#decoder,
        place,
        frames,
        this.#scratch,
        temporary,
        onStage &&
          ((stage, source, count, columns) => {
            const copy = temporary(count * columns)
            this.#backend.enqueue('copyRows', { source, out: copy, rows: count, columns })
            seen.push({ stage, copy, floats: count * columns })
          }),
      )
      const result = await this.#read(samples, rows, signal)
      for (const { stage, copy, floats } of seen) onStage?.(stage, await this.#read(copy, floats, signal))
      return result
    })
  }

  async #read(place: BufferRef, floats: number, signal: AbortSignal | undefined): Promise<Float32Array> {
    return new Float32Array((await this.#backend.read(place, floats * 4, signal)).buffer)
  }

  /** Memory for the time of `work`. */
  async #withTemporaries<Result>(
    work: (temporary: (floats: number) => DeviceBuffer) => Promise<Result>,
  ): Promise<Result> {
    const buffers: DeviceBuffer[] = []
    try {
      return await work((floats) => {
        const buffer = this.#backend.alloc(floats * 4)
        buffers.push(buffer)
        return buffer
      })
    } finally {
      for (const buffer of buffers) this.#backend.free(buffer)
    }
  }
}

function checkSizes(config: VitsConfig, name: string, speaker: number): void {
  const { dim, heads, flow, decoder, speakers } = config
  const halvings = 2 ** decoder.stages.length
  const problem =
    (dim % heads !== 0 && `${dim} channels for ${heads} heads`) ||
    (flow.channels % 2 !== 0 && `an odd number of ${flow.channels} latent channels`) ||
    (decoder.initialChannels % halvings !== 0 &&
      `${decoder.initialChannels} channels that ${decoder.stages.length} stages halve`)
  if (problem) {
    throw new EngineError('model/sizes', {
      message: `${name}: the sizes do not fit together: ${problem}.`,
      hint: 'The voice is damaged, or of a kind that is not supported.',
    })
  }
  if (!Number.isInteger(speaker) || speaker < 0 || speaker >= speakers) {
    throw new EngineError('option/speaker', {
      message: `${name} has the speakers 0 to ${speakers - 1}; found ${speaker}.`,
      field: 'speaker',
    })
  }
}

/** Frames of each symbol, at least one of all. */
function framesOf(logDurations: Float32Array, scale: number): number[] {
  const counts = Array.from(logDurations, (log) => {
    const frames = Math.ceil(Math.exp(log) * scale)
    return Number.isFinite(frames) ? Math.min(frames, MAX_FRAMES_PER_SYMBOL) : MAX_FRAMES_PER_SYMBOL
  })
  if (!counts.some((count) => count > 0)) counts.fill(1, -1)
  return counts
}

/** Means plus noise of the symbol that sounds in each frame, as two halves of channels. */
function spread(
  statistics: Float32Array,
  durations: readonly number[],
  channels: number,
  noise: Float32Array,
  scale: number,
): readonly [Float32Array, Float32Array] {
  const half = channels / 2
  const frames = noise.length / channels
  const halves = [new Float32Array(frames * half), new Float32Array(frames * half)] as const
  const [lower, upper] = halves
  let frame = 0
  for (const [symbol, count] of durations.entries()) {
    const means = symbol * 2 * channels
    for (let end = frame + count; frame < end; frame++) {
      for (let channel = 0; channel < channels; channel++) {
        const deviation = Math.exp(statistics[means + channels + channel] as number) * scale
        const value =
          (statistics[means + channel] as number) + (noise[frame * channels + channel] as number) * deviation
        const target = channel < half ? lower : upper
        target[frame * half + (channel % half)] = value
      }
    }
  }
  return halves
}

function turned(values: Float32Array, index: number, channels: number): number {
  const start = index - (index % channels)
  return values[start + channels - 1 - (index % channels)] as number
}
