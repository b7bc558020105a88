/**
 * Scalar encoding of the types with 32 elements per block, without calibration. Every intermediate result is
 * rounded to float32, so that blocks have the bits that the Python `gguf` package writes.
 *
 * Methods: ggml-org/ggml `src/ggml-quants.c`.
 */
import { storeHalf } from './store-half.ts'

const LENGTH = 32
const { fround } = Math

/** Index of the element with the largest magnitude, the first of equals. */
function largestIndex(values: Float32Array, start: number): number {
  let best = start
  let magnitude = Math.abs(values[start] as number)
  for (let i = start + 1; i < start + LENGTH; i++) {
    const candidate = Math.abs(values[i] as number)
    if (candidate > magnitude) {
      magnitude = candidate
      best = i
    }
  }
  return best
}

/** 1/d in float32; 0 where d is 0 or so small that the quotient overflows (such a d is stored as 0). */
function reciprocal(d: number): number {
  const inverse = fround(1 / d)
  return Number.isFinite(inverse) ? inverse : 0
}

export function encodeQ80(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += 34) {
    const d = fround(Math.abs(values[largestIndex(values, block)] as number) / 127)
    const inverse = reciprocal(d)
    storeHalf(d, out, at)
    for (let j = 0; j < LENGTH; j++) {
      const scaled = fround((values[block + j] as number) * inverse)
      out[at + 2 + j] = scaled + (scaled < 0 ? -0.5 : 0.5) // the store truncates: half away from zero
    }
  }
}

export function encodeQ40(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += 18) {
    const d = fround((values[largestIndex(values, block)] as number) / -8)
    const inverse = reciprocal(d)
    storeHalf(d, out, at)
    for (let j = 0; j < 16; j++) {
      const low = symmetricCode(values[block + j] as number, inverse, 8)
      const high = symmetricCode(values[block + 16 + j] as number, inverse, 8)
      out[at + 2 + j] = low | (high << 4)
    }
  }
}

export function encodeQ50(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += 22) {
    const d = fround((values[largestIndex(values, block)] as number) / -16)
    const inverse = reciprocal(d)
    storeHalf(d, out, at)
    let highBits = 0
    for (let j = 0; j < 16; j++) {
      const low = symmetricCode(values[block + j] as number, inverse, 16)
      const high = symmetricCode(values[block + 16 + j] as number, inverse, 16)
      out[at + 6 + j] = (low & 15) | ((high & 15) << 4)
      highBits |= ((low >> 4) << j) | ((high >> 4) << (j + 16))
    }
    storeUint32(highBits, out, at + 2)
  }
}

/** Codes around a zero point; the largest magnitude lies at code 0, so the other end may need clamping. */
function symmetricCode(value: number, inverse: number, zeroPoint: number): number {
  const code = fround(fround(value * inverse) + (zeroPoint + 0.5)) | 0
  return Math.min(code, 2 * zeroPoint - 1)
}

export function encodeQ41(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += 20) {
    const { min, d } = minAndStep(values, block, 15)
    const inverse = reciprocal(d)
    storeHalf(d, out, at)
    storeHalf(min, out, at + 2)
    for (let j = 0; j < 16; j++) {
      const low = offsetCode(values[block + j] as number, min, inverse, 15)
      const high = offsetCode(values[block + 16 + j] as number, min, inverse, 15)
      out[at + 4 + j] = low | (high << 4)
    }
  }
}

export function encodeQ51(values: Float32Array, out: Uint8Array): void {
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += 24) {
    const { min, d } = minAndStep(values, block, 31)
    const inverse = reciprocal(d)
    storeHalf(d, out, at)
    storeHalf(min, out, at + 2)
    let highBits = 0
    for (let j = 0; j < 16; j++) {
      const low = offsetCode(values[block + j] as number, min, inverse, 31)
      const high = offsetCode(values[block + 16 + j] as number, min, inverse, 31)
      out[at + 8 + j] = (low & 15) | ((high & 15) << 4)
      highBits |= ((low >> 4) << j) | ((high >> 4) << (j + 16))
    }
    storeUint32(highBits, out, at + 4)
  }
}

function minAndStep(values: Float32Array, start: number, levels: number): { min: number; d: number } {
  let min = values[start] as number
  let max = min
  for (let i = start + 1; i < start + LENGTH; i++) {
    const value = values[i] as number
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, d: fround(fround(max - min) / levels) }
}

function offsetCode(value: number, min: number, inverse: number, levels: number): number {
  const code = fround(fround(fround(value - min) * inverse) + 0.5) | 0
  return Math.min(code, levels)
}

function storeUint32(bits: number, out: Uint8Array, at: number): void {
  out[at] = bits
  out[at + 1] = bits >>> 8
  out[at + 2] = bits >>> 16
  out[at + 3] = bits >>> 24
}
