/**
 * Scalar decoding of the types with 256 elements per super-block.
 * `Math.fround` stands where float32 arithmetic rounds an intermediate result; the store rounds the last one.
 *
 * Layouts: ggml-org/ggml `src/ggml-common.h`; the order of the codes inside a block: `src/ggml-quants.c`.
 */
import { IQ4_VALUES } from './code-tables.ts'
import { decodeTableBlock } from './decode-blocks32.ts'
import { halfAt } from './half.ts'
import { unpackKScales } from './k-scales.ts'

const LENGTH = 256

function int8At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 24) >> 24
}

/** u8 scales[16] (low nibble scale, high nibble minimum); u8 codes[64]; f16 d; f16 dmin. */
export function decodeQ2K(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 84) {
    const d = halfAt(bytes, at + 80)
    const dmin = halfAt(bytes, at + 82)
    for (let part = 0; part < 16; part++) {
      const packed = bytes[at + part] as number
      const scale = Math.fround(d * (packed & 15))
      const min = Math.fround(dmin * (packed >> 4))
      const codesAt = at + 16 + twoBitCodeOffset(part)
      const shift = twoBitCodeShift(part)
      for (let l = 0; l < 16; l++) {
        out[block + part * 16 + l] =
          Math.fround(scale * (((bytes[codesAt + l] as number) >> shift) & 3)) - min
      }
    }
  }
}

/** u8 high bits[32]; u8 codes[64]; u8 scales[12], 6 bits each; f16 d. */
export function decodeQ3K(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 110) {
    const d = halfAt(bytes, at + 108)
    const scalesAt = at + 96
    for (let part = 0; part < 16; part++) {
      const low = ((bytes[scalesAt + (part & 7)] as number) >> (part < 8 ? 0 : 4)) & 15
      const high = ((bytes[scalesAt + 8 + (part & 3)] as number) >> (2 * (part >> 2))) & 3
      const scale = Math.fround(d * ((low | (high << 4)) - 32))
      const codesAt = at + 32 + twoBitCodeOffset(part)
      const shift = twoBitCodeShift(part)
      const highAt = at + (part & 1) * 16
      const highBit = part >> 1
      for (let l = 0; l < 16; l++) {
        const code = ((bytes[codesAt + l] as number) >> shift) & 3
        // A set bit means "no offset".
        const offset = ((bytes[highAt + l] as number) >> highBit) & 1 ? 0 : 4
        out[block + part * 16 + l] = scale * (code - offset)
      }
    }
  }
}

// Q2_K and Q3_K: 32 code bytes serve 128 elements, two bits for each run of 32.
function twoBitCodeOffset(part: number): number {
  return (part >> 3) * 32 + (part & 1) * 16
}

function twoBitCodeShift(part: number): number {
  return ((part >> 1) & 3) * 2
}

/** f16 d; f16 dmin; u8 scales[12]; u8 codes[128]. */
export function decodeQ4K(bytes: Uint8Array, out: Float32Array): void {
  const scales = new Uint8Array(8)
  const mins = new Uint8Array(8)
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 144) {
    const d = halfAt(bytes, at)
    const dmin = halfAt(bytes, at + 2)
    unpackKScales(bytes, at + 4, scales, mins)
    for (let part = 0; part < 8; part++) {
      const scale = Math.fround(d * (scales[part] as number))
      const min = Math.fround(dmin * (mins[part] as number))
      const codesAt = at + 16 + (part >> 1) * 32
      const shift = (part & 1) * 4
      for (let l = 0; l < 32; l++) {
        out[block + part * 32 + l] =
          Math.fround(scale * (((bytes[codesAt + l] as number) >> shift) & 15)) - min
      }
    }
  }
}

/** f16 d; f16 dmin; u8 scales[12]; u8 high bits[32]; u8 codes[128]. */
export function decodeQ5K(bytes: Uint8Array, out: Float32Array): void {
  const scales = new Uint8Array(8)
  const mins = new Uint8Array(8)
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 176) {
    const d = halfAt(bytes, at)
    const dmin = halfAt(bytes, at + 2)
    unpackKScales(bytes, at + 4, scales, mins)
    for (let part = 0; part < 8; part++) {
      const scale = Math.fround(d * (scales[part] as number))
      const min = Math.fround(dmin * (mins[part] as number))
      const codesAt = at + 48 + (part >> 1) * 32
      const shift = (part & 1) * 4
      for (let l = 0; l < 32; l++) {
        const high = ((bytes[at + 16 + l] as number) >> part) & 1
        const code = (((bytes[codesAt + l] as number) >> shift) & 15) | (high << 4)
        out[block + part * 32 + l] = Math.fround(scale * code) - min
      }
    }
  }
}

/** u8 low nibbles[128]; u8 high pairs[64]; i8 scales[16]; f16 d. */
export function decodeQ6K(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 210) {
    const d = halfAt(bytes, at + 208)
    for (let part = 0; part < 16; part++) {
      const scale = Math.fround(d * int8At(bytes, at + 192 + part))
      const half = part >> 3
      const run = (part >> 1) & 3 // which 32 elements of the half
      const start = (part & 1) * 16
      const lowAt = at + half * 64 + (run & 1) * 32 + start
      const lowShift = run < 2 ? 0 : 4
      const highAt = at + 128 + half * 32 + start
      for (let l = 0; l < 16; l++) {
        const low = ((bytes[lowAt + l] as number) >> lowShift) & 15
        const high = ((bytes[highAt + l] as number) >> (2 * run)) & 3
        out[block + part * 16 + l] = scale * ((low | (high << 4)) - 32)
      }
    }
  }
}

/** f32 d; i8 codes[256]; i16 sums[16], which decoding does not need. */
export function decodeQ8K(bytes: Uint8Array, out: Float32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 292) {
    const d = view.getFloat32(at, true)
    for (let l = 0; l < LENGTH; l++) out[block + l] = d * int8At(bytes, at + 4 + l)
  }
}

/** f16 d; u16 upper scale bits; u8 lower scale nibbles[4]; u8 codes[128] into a table. */
export function decodeIq4Xs(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += LENGTH, at += 136) {
    const d = halfAt(bytes, at)
    const upper = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8)
    for (let part = 0; part < 8; part++) {
      const low = ((bytes[at + 4 + (part >> 1)] as number) >> ((part & 1) * 4)) & 15
      const scale = Math.fround(d * ((low | (((upper >> (2 * part)) & 3) << 4)) - 32))
      decodeTableBlock(bytes, at + 8 + part * 16, scale, IQ4_VALUES, out, block + part * 32)
    }
  }
}
