/**
 * Scalar decoding of the types with 32 elements per block.
 * `Math.fround` stands after each product that a sum follows, so that the result has the bits of float32
 * arithmetic; a single operation is rounded by the store.
 *
 * Layouts: ggml-org/ggml `src/ggml-common.h`. In all 4- and 5-bit types the low nibbles of the 16 code bytes are
 * elements 0..15 and the high nibbles elements 16..31.
 */
import { IQ4_VALUES, MXFP4_VALUES } from './code-tables.ts'
import { halfAt } from './half.ts'

/** f16 d; u8 codes[16]. */
export function decodeQ40(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 18) {
    const d = halfAt(bytes, at)
    for (let j = 0; j < 16; j++) {
      const code = bytes[at + 2 + j] as number
      out[block + j] = d * ((code & 15) - 8)
      out[block + 16 + j] = d * ((code >> 4) - 8)
    }
  }
}

/** f16 d; f16 m; u8 codes[16]. */
export function decodeQ41(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 20) {
    const d = halfAt(bytes, at)
    const m = halfAt(bytes, at + 2)
    for (let j = 0; j < 16; j++) {
      const code = bytes[at + 4 + j] as number
      out[block + j] = Math.fround(d * (code & 15)) + m
      out[block + 16 + j] = Math.fround(d * (code >> 4)) + m
    }
  }
}

/** f16 d; u32 high bits; u8 codes[16]. */
export function decodeQ50(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 22) {
    const d = halfAt(bytes, at)
    const highBits = uint32At(bytes, at + 2)
    for (let j = 0; j < 16; j++) {
      const code = bytes[at + 6 + j] as number
      out[block + j] = d * (((code & 15) | (((highBits >>> j) & 1) << 4)) - 16)
      out[block + 16 + j] = d * (((code >> 4) | (((highBits >>> (j + 16)) & 1) << 4)) - 16)
    }
  }
}

/** f16 d; f16 m; u32 high bits; u8 codes[16]. */
export function decodeQ51(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 24) {
    const d = halfAt(bytes, at)
    const m = halfAt(bytes, at + 2)
    const highBits = uint32At(bytes, at + 4)
    for (let j = 0; j < 16; j++) {
      const code = bytes[at + 8 + j] as number
      out[block + j] = Math.fround(d * ((code & 15) | (((highBits >>> j) & 1) << 4))) + m
      out[block + 16 + j] = Math.fround(d * ((code >> 4) | (((highBits >>> (j + 16)) & 1) << 4))) + m
    }
  }
}

/** f16 d; i8 codes[32]. */
export function decodeQ80(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 34) {
    const d = halfAt(bytes, at)
    for (let j = 0; j < 32; j++) out[block + j] = d * (((bytes[at + 2 + j] as number) << 24) >> 24)
  }
}

/** f16 d; u8 codes[16] into a table. */
export function decodeIq4Nl(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 18) {
    decodeTableBlock(bytes, at + 2, halfAt(bytes, at), IQ4_VALUES, out, block)
  }
}

/** u8 exponent; u8 codes[16] into a table. */
export function decodeMxfp4(bytes: Uint8Array, out: Float32Array): void {
  for (let block = 0, at = 0; block < out.length; block += 32, at += 17) {
    // 2^(e-128): half of 2^(e-127), because the table holds doubled values. Exact, subnormals included.
    const d = 2 ** ((bytes[at] as number) - 128)
    decodeTableBlock(bytes, at + 1, d, MXFP4_VALUES, out, block)
  }
}

/** Sixteen code bytes at `at` become 32 values at `outAt`. */
export function decodeTableBlock(
  bytes: Uint8Array,
  at: number,
  scale: number,
  table: Float32Array,
  out: Float32Array,
  outAt: number,
): void {
  for (let j = 0; j < 16; j++) {
    const code = bytes[at + j] as number
    out[outAt + j] = scale * (table[code & 15] as number)
    out[outAt + 16 + j] = scale * (table[code >> 4] as number)
  }
}

function uint32At(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
