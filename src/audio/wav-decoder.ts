import { EngineError } from '../shared/errors.ts'
import { type AudioClip, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE } from './audio-clip.ts'
import { sniffAudioFormat, unsupportedAudioError } from './audio-format.ts'
import { PcmDecoder, type SampleEncoding } from './pcm.ts'

/*
 * RIFF/WAVE as Microsoft and IBM wrote it down in 1991 ("Multimedia Programming Interface and Data Specifications
 * 1.0"), the extensible format of 1999, and 64-bit sizes by EBU Tech 3306 (RF64) and ITU-R BS.2088 (BW64).
 *
 * Lengths in headers are often wrong: programs that write into pipes, and recorders that were cut off, leave 0, the
 * largest number or what they hoped for. The sound therefore ends with its chunk or with the file, whichever is first.
 */

const RIFF_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
/** Of an extensible format; what goes beyond is not looked at. */
const MAX_FORMAT_BYTES = 40
const MIN_FORMAT_BYTES = 16
/** Of a "ds64" chunk: the length of the file and that of the sound, 8 bytes each. */
const LONG_SIZES_BYTES = 16
/** The widest sample there is: a float of 64 bits. */
const MAX_SAMPLE_BYTES = 8
const UNKNOWN_LENGTH = 0xffffffff

const PCM = 0x0001
const FLOAT = 0x0003
const EXTENSIBLE = 0xfffe

/** Codecs that are met in WAV files, for messages. */
const CODEC_NAMES: Readonly<Record<number, string>> = {
  2: 'Microsoft ADPCM',
  6: 'A-law',
  7: 'µ-law',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  80: 'MPEG audio',
  85: 'MP3',
  255: 'AAC',
}

type State = 'riff' | 'chunk' | 'sizes' | 'format' | 'empty-data' | 'skip' | 'data' | 'end'

/** Decodes a WAV file that arrives in pieces, cut anywhere, into mono samples. */
export class WavDecoder {
  readonly #name: string
  readonly #held = new Uint8Array(MAX_FORMAT_BYTES)
  #heldBytes = 0
  #state: State = 'riff'
  /** Bytes to hold before the state can go on. */
  #needed = RIFF_HEADER_BYTES
  /** Bytes left of what is skipped or decoded. */
  #left = 0
  /** Bytes of a chunk behind those that are held. */
  #chunkRest = 0
  #longDataBytes: number | undefined
  #decoder: PcmDecoder | undefined
  #sampleRate: number | undefined

  /** `name` is how a person would recognise the file in a message. */
  constructor(name: string) {
    this.#name = name
  }

  /** Samples a second, as soon as the header has told. */
  get sampleRate(): number | undefined {
    return this.#sampleRate
  }

  /** True when the sound is over, whatever still follows. */
  get isAtEnd(): boolean {
    return this.#state === 'end'
  }

  /**
   * The samples that became complete, the mean of all channels.
   *
   * Throws `audio/unsupported-format` where the bytes are no WAV file or hold another codec, `audio/damaged` where the
   * header says the impossible.
   */
  push(bytes: Uint8Array): Float32Array {
    const pieces: Float32Array[] = []
    let at = 0
    while (at < bytes.length && this.#state !== 'end') {
      const rest = bytes.subarray(at)
      if (this.#state === 'data') {
        const taken = rest.subarray(0, this.#left)
        pieces.push(this.#pcm().push(taken))
        at += this.#consume(taken.length, 'end')
      } else if (this.#state === 'skip') {
        at += this.#consume(Math.min(this.#left, rest.length), 'chunk')
      } else {
        at += this.#hold(rest)
        if (this.#heldBytes === this.#needed) pieces.push(...this.#advance())
      }
    }
    return join(pieces)
  }

  /** What is left. Throws `audio/unsupported-format` or `audio/damaged` when the file ended before its sound. */
  finish(): Float32Array {
    if (this.#state === 'riff') {
      throw unsupportedAudioError(this.#held.subarray(0, this.#heldBytes), this.#name, 'a WAV file')
    }
    if (this.#state === 'data' || this.#state === 'end') return new Float32Array(0)
    if (this.#state === 'empty-data') return this.#pcm().push(this.#held.subarray(0, this.#heldBytes))
    throw this.#damaged('the file ends before the "data" chunk')
  }

  #consume(byteLength: number, next: 'chunk' | 'end'): number {
    this.#left -= byteLength
    if (this.#left === 0) this.#expect(next, CHUNK_HEADER_BYTES)
    return byteLength
  }

  #hold(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.#needed - this.#heldBytes)
    this.#held.set(taken, this.#heldBytes)
    this.#heldBytes += taken.length
    return taken.length
  }

  #expect(state: State, needed: number): void {
    this.#state = state
    this.#needed = needed
    this.#heldBytes = 0
  }

  #advance(): Float32Array[] {
    const held = this.#held.subarray(0, this.#heldBytes)
    const view = new DataView(held.buffer, 0, held.length)
    switch (this.#state) {
      case 'riff':
        if (sniffAudioFormat(held) !== 'wav') throw unsupportedAudioError(held, this.#name, 'a WAV file')
        this.#expect('chunk', CHUNK_HEADER_BYTES)
        return []
      case 'chunk':
        this.#openChunk(String.fromCharCode(...held.subarray(0, 4)), view.getUint32(4, true))
        return []
      case 'sizes':
        this.#longDataBytes = Number(view.getBigUint64(8, true))
        this.#skip(this.#chunkRest)
        return []
      case 'format':
        this.#readFormat(view)
        this.#skip(this.#chunkRest)
        return []
      case 'empty-data':
        // A length of 0 with samples behind it is a header that nobody went back to.
        if (isChunkName(held)) {
          this.#state = 'end'
          return []
        }
        this.#startData(Number.POSITIVE_INFINITY)
        return [this.#pcm().push(held.slice())]
      default:
        return []
    }
  }

  #openChunk(id: string, byteLength: number): void {
    const padded = byteLength + (byteLength % 2)
    if (id === 'fmt ') {
      if (byteLength < MIN_FORMAT_BYTES) {
        throw this.#damaged(`its "fmt " chunk has ${byteLength} bytes, expected ${MIN_FORMAT_BYTES} or more`)
      }
      const needed = Math.min(byteLength, MAX_FORMAT_BYTES)
      this.#expect('format', needed)
      this.#chunkRest = padded - needed
    } else if (id === 'data') {
      this.#pcm()
      if (byteLength === 0) this.#expect('empty-data', CHUNK_HEADER_BYTES)
      else if (byteLength < UNKNOWN_LENGTH) this.#startData(byteLength)
      else this.#startData(this.#longDataBytes || Number.POSITIVE_INFINITY)
    } else if (id === 'ds64' && byteLength >= LONG_SIZES_BYTES) {
      this.#expect('sizes', LONG_SIZES_BYTES)
      this.#chunkRest = padded - LONG_SIZES_BYTES
    } else {
      this.#skip(padded)
    }
  }

  #skip(byteLength: number): void {
    this.#expect('skip', 0)
    this.#left = byteLength
    if (byteLength === 0) this.#expect('chunk', CHUNK_HEADER_BYTES)
  }

  #startData(byteLength: number): void {
    this.#expect('data', 0)
    this.#left = byteLength
  }

  #readFormat(view: DataView): void {
    const channels = view.getUint16(2, true)
    const sampleRate = view.getUint32(4, true)
    const frameBytes = view.getUint16(12, true)
    const bits = view.getUint16(14, true)
    if (channels === 0) throw this.#damaged('its header names 0 channels')
    if (sampleRate < MIN_SAMPLE_RATE || sampleRate > MAX_SAMPLE_RATE) {
      throw new EngineError('audio/unsupported-rate', {
        message:
          `${this.#name}: expected ${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE} samples a second, ` +
          `its header names ${sampleRate}.`,
        hint: 'Convert it to 16000 samples a second, or repair its header.',
      })
    }
    const outer = view.getUint16(0, true)
    // The real codec of an extensible format is the beginning of its sub-format.
    const codec = outer === EXTENSIBLE && view.byteLength >= 26 ? view.getUint16(24, true) : outer
    const sampleBytes = Math.ceil(bits / 8)
    const encoding = encodingOf(codec, sampleBytes)
    if (encoding === undefined) {
      const found = CODEC_NAMES[codec] ?? `codec ${codec}`
      throw new EngineError('audio/unsupported-format', {
        message:
          `${this.#name}: expected samples of 8, 16, 24 or 32 bits, or floats of 32 or 64, ` +
          `found ${found} with ${bits} bits.`,
        hint: 'Convert it, for example with "ffmpeg -i in.wav -c:a pcm_s16le out.wav".',
      })
    }
    // Writers may leave room around a sample, such as 24 bits in 4 bytes; some leave the field empty.
    const room = frameBytes / channels
    const isUsable = Number.isInteger(room) && room >= sampleBytes && room <= MAX_SAMPLE_BYTES
    const sampleStride = isUsable ? room : sampleBytes
    this.#decoder = new PcmDecoder({ encoding, channels, sampleStride })
    this.#sampleRate = sampleRate
  }

  #pcm(): PcmDecoder {
    if (!this.#decoder) throw this.#damaged('its "data" chunk comes before a "fmt " chunk')
    return this.#decoder
  }

  #damaged(found: string): EngineError {
    return new EngineError('audio/damaged', {
      message: `${this.#name}: expected a WAV file, but ${found}.`,
      hint: 'The file looks cut off or damaged; fetch or record it again.',
    })
  }
}

/** The sound of a whole WAV file in memory; errors as those of `WavDecoder`. No samples are no error. */
export function parseWav(bytes: Uint8Array, name: string): AudioClip {
  const decoder = new WavDecoder(name)
  const samples = decoder.push(bytes)
  const rest = decoder.finish()
  return { samples: join([samples, rest]), sampleRate: decoder.sampleRate ?? 0 }
}

function encodingOf(codec: number, sampleBytes: number): SampleEncoding | undefined {
  if (codec === PCM) return ([undefined, 'u8', 's16le', 's24le', 's32le'] as const)[sampleBytes]
  if (codec === FLOAT) return sampleBytes === 4 ? 'f32le' : sampleBytes === 8 ? 'f64le' : undefined
  return undefined
}

/** Chunks are named by four printable characters, the first of them a letter in all that are registered. */
function isChunkName(bytes: Uint8Array): boolean {
  return /^[A-Za-z][\x20-\x7e]{3}$/.test(String.fromCharCode(...bytes.subarray(0, 4)))
}

function join(pieces: readonly Float32Array[]): Float32Array {
  const filled = pieces.filter((piece) => piece.length > 0)
  if (filled.length === 1 && filled[0]) return filled[0]
  const whole = new Float32Array(filled.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of filled) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
