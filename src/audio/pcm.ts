/** How one sample is stored; little-endian. */
export type SampleEncoding = 'u8' | 's16le' | 's24le' | 's32le' | 'f32le' | 'f64le'

export interface PcmFormat {
  readonly encoding: SampleEncoding
  /** Interleaved; 1 or more. */
  readonly channels: number
  /** Bytes from one sample to the next where it is more than the sample itself takes, the sample being the last of them. */
  readonly sampleStride?: number
}

interface Codec {
  readonly bytes: number
  readonly read: (view: DataView, byteOffset: number) => number
}

const CODECS: Readonly<Record<SampleEncoding, Codec>> = {
  u8: { bytes: 1, read: (view, at) => (view.getUint8(at) - 128) / 0x80 },
  s16le: { bytes: 2, read: (view, at) => view.getInt16(at, true) / 0x8000 },
  s24le: {
    bytes: 3,
    read: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 0x10000) / 0x800000,
  },
  s32le: { bytes: 4, read: (view, at) => view.getInt32(at, true) / 0x80000000 },
  f32le: { bytes: 4, read: (view, at) => finite(view.getFloat32(at, true)) },
  f64le: { bytes: 8, read: (view, at) => finite(view.getFloat64(at, true)) },
}

/** One sample that is no number would spoil every sum it enters: it counts as silence. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 0
}

/**
 * Turns a stream of stored samples into mono ones, the mean of all channels. Pieces may be cut anywhere; bytes of a
 * last, unfinished frame are dropped.
 */
export class PcmDecoder {
  readonly #read: Codec['read']
  readonly #channels: number
  readonly #sampleStride: number
  readonly #firstByte: number
  readonly #rest: Uint8Array
  #restBytes = 0

  constructor({ encoding, channels, sampleStride }: PcmFormat) {
    const { bytes, read } = CODECS[encoding]
    this.#read = read
    this.#channels = channels
    this.#sampleStride = sampleStride ?? bytes
    this.#firstByte = this.#sampleStride - bytes
    this.#rest = new Uint8Array(this.#sampleStride * channels)
  }

  push(bytes: Uint8Array): Float32Array {
    const frameBytes = this.#rest.length
    const frames = Math.floor((this.#restBytes + bytes.length) / frameBytes)
    const samples = new Float32Array(frames)
    let at = 0
    let done = 0
    if (this.#restBytes > 0) {
      at = Math.min(frameBytes - this.#restBytes, bytes.length)
      this.#rest.set(bytes.subarray(0, at), this.#restBytes)
      this.#restBytes += at
      if (this.#restBytes < frameBytes) return samples
      this.#decode(this.#rest, samples.subarray(0, 1))
      this.#restBytes = 0
      done = 1
    }
    this.#decode(bytes.subarray(at), samples.subarray(done))
    const rest = bytes.subarray(at + (frames - done) * frameBytes)
    this.#rest.set(rest)
    this.#restBytes = rest.length
    return samples
  }

  #decode(bytes: Uint8Array, samples: Float32Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = this.#firstByte
    for (let frame = 0; frame < samples.length; frame++) {
      let sum = 0
      for (let channel = 0; channel < this.#channels; channel++) {
        sum += this.#read(view, at)
        at += this.#sampleStride
      }
      samples[frame] = sum / this.#channels
    }
  }
}
