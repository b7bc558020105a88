/** Seeded data for conformance cases: floats of several characters, and weight blocks of every type. */
import { encodeBlocks } from '../../quant/encode.ts'
import { floatToHalf } from '../../quant/half.ts'
import { TENSOR_TYPES } from '../../quant/tensor-types.ts'
import { rawRowByteLength } from '../matrix-rows.ts'
import { isFloatMatrixType, type MatrixType } from '../ops.ts'

/** Characters of float data. */
export type Character =
  | 'normal' // bell-shaped, variance 1
  | 'wide' // the same times 4
  | 'offset' // the same plus 10: a variance as a difference of large squares would cancel
  | 'zeros' // both signs
  | 'denormals' // below the smallest normal float32
  | 'small' // about 1e-30
  | 'large' // about 1e30
  | 'half-limit' // about 1e5: an eighth of it is still a finite half
  | 'squarable' // about 1e17: squares of rows still fit float32
  | 'ties' // blocks of 32 that start with 127; the rest are multiples of 1/2 from -126 to 126
  | 'nan' // normal with a NaN in every 40 or so
  | 'infinite' // normal with a positive infinity in every 40 or so

export interface Random {
  /** Uniform in 0 to 1, 1 excluded. */
  next(): number
  /** Uniform integer below `limit`. */
  below(limit: number): number
}

/** Mulberry32, a public-domain generator by Tommy Ettinger. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, below: (limit) => Math.floor(next() * limit) }
}

/** A seed from a text: FNV-1a. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/** A sum of four uniforms: close to normal, variance 1, bounded by ±3.5. */
function bell(random: Random): number {
  return (random.next() + random.next() + random.next() + random.next() - 2) * Math.sqrt(3)
}

const CHARACTERS: Readonly<Record<Character, (random: Random, index: number) => number>> = {
  normal: bell,
  wide: (random) => bell(random) * 4,
  offset: (random) => bell(random) + 10,
  zeros: (random) => (random.next() < 0.5 ? 0 : -0),
  denormals: (random) => bell(random) * 1e-39,
  small: (random) => bell(random) * 1e-30,
  large: (random) => bell(random) * 1e30,
  'half-limit': (random) => bell(random) * 1e5,
  squarable: (random) => bell(random) * 1e17,
  ties: (random, index) => (index % 32 === 0 ? 127 : (random.below(505) - 252) / 2),
  nan: (random) => (random.next() < 0.025 ? Number.NaN : bell(random)),
  infinite: (random) => (random.next() < 0.025 ? Number.POSITIVE_INFINITY : bell(random)),
}

export function randomFloats(random: Random, length: number, character: Character = 'normal'): Float32Array {
  return Float32Array.from({ length }, (_, index) => CHARACTERS[character](random, index))
}

/** Bytes of a typed array. */
export function bytesOf(array: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** Where the half-precision scales of a block stand. */
const SCALE_OFFSETS: Readonly<Partial<Record<MatrixType, readonly number[]>>> = {
  Q4_0: [0],
  Q4_1: [0, 2],
  Q5_0: [0],
  Q5_1: [0, 2],
  Q8_0: [0],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
  IQ4_NL: [0],
}

/**
 * Raw rows of a matrix. `encoded` are what our encoder makes of normal weights. `blocks` are random bits, so that
 * every code occurs, with scales of both signs, a few of them zero or subnormal halves. Rows that end inside a
 * block are filled with zeros, as `encodeRows` does.
 */
export function randomMatrix(
  random: Random,
  type: MatrixType,
  rows: number,
  columns: number,
  content: 'encoded' | 'blocks' = 'encoded',
): Uint8Array {
  const { blockLength, blockBytes } = TENSOR_TYPES[type]
  const bytes = new Uint8Array(rows * rawRowByteLength(type, columns))
  if (content === 'encoded' || isFloatMatrixType(type) || columns % blockLength !== 0) {
    const padded = Math.ceil(columns / blockLength) * blockLength
    const values = new Float32Array(rows * padded)
    for (let row = 0; row < rows; row++) values.set(randomFloats(random, columns), row * padded)
    return encodeBlocks(type, values)
  }
  for (let i = 0; i < bytes.length; i++) bytes[i] = random.below(256)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < bytes.length; at += blockBytes) {
    for (const offset of SCALE_OFFSETS[type]!) view.setUint16(at + offset, randomScaleBits(random), true)
  }
  return bytes
}

/** Raw rows in which all code bytes are the same extreme, row by row another one; scales and minima are 0.01. */
export function extremeMatrix(type: MatrixType, rows: number, columns: number): Uint8Array {
  const rowBytes = rawRowByteLength(type, columns)
  const bytes = new Uint8Array(rows * rowBytes)
  const view = new DataView(bytes.buffer)
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes
    bytes.fill([0xff, 0x00, 0x80, 0x7f][row % 4]!, start, start + rowBytes)
    for (let at = start; at < start + rowBytes; at += TENSOR_TYPES[type].blockBytes) {
      for (const offset of SCALE_OFFSETS[type]!) view.setUint16(at + offset, floatToHalf(0.01), true)
    }
  }
  return bytes
}

function randomScaleBits(random: Random): number {
  const kind = random.below(16)
  if (kind === 0) return 0
  if (kind === 1) return random.below(0x400) | (random.below(2) << 15)
  return floatToHalf((random.next() + 0.1) * 0.02 * (random.next() < 0.3 ? -1 : 1))
}
