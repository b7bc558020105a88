/**
 * Exact conversion between float32 and the two 16-bit float formats, on bit patterns.
 * Towards 16 bits the nearest value is taken, ties to even; too large becomes infinity; NaN stays NaN (quiet).
 */

const scratchFloat = new Float32Array(1)
const scratchBits = new Uint32Array(scratchFloat.buffer)

const SUBNORMAL_HALF_STEP = 2 ** -24

/** The value of an IEEE half with these 16 bits. */
export function halfToFloat(half: number): number {
  const exponent = half & 0x7c00
  if (exponent === 0) {
    const magnitude = (half & 0x3ff) * SUBNORMAL_HALF_STEP
    return half & 0x8000 ? -magnitude : magnitude
  }
  // Rebias 15 -> 127; the all-ones exponent of infinity and NaN becomes all ones again.
  const rebias = exponent === 0x7c00 ? (255 - 31) << 23 : (127 - 15) << 23
  scratchBits[0] = ((half & 0x8000) << 16) | (((half & 0x7fff) << 13) + rebias)
  return scratchFloat[0] as number
}

/** The 16 bits of the IEEE half nearest to `value`, which is rounded to float32 first. */
export function floatToHalf(value: number): number {
  scratchFloat[0] = value
  return floatBitsToHalf(scratchBits[0] as number)
}

function floatBitsToHalf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const magnitude = bits & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00 | ((magnitude >>> 13) & 0x1ff)
  if (magnitude >= 0x477ff000) return sign | 0x7c00 // 65520 and above: nearer to 65536 than to 65504
  if (magnitude >= 0x38800000) {
    const rounding = 0xfff + ((magnitude >>> 13) & 1)
    return sign | ((magnitude - 0x38000000 + rounding) >>> 13)
  }
  // Below 2^-14 the result counts steps of 2^-24: shift the full significand down to that step.
  const shift = 126 - (magnitude >>> 23)
  if (shift > 24) return sign
  const significand = (magnitude & 0x7fffff) | 0x800000
  const steps = significand >>> shift
  const remainder = significand & ((1 << shift) - 1)
  const halfway = 1 << (shift - 1)
  const roundUp = remainder > halfway || (remainder === halfway && (steps & 1) === 1)
  return sign | (roundUp ? steps + 1 : steps)
}

/** The value of a bfloat16 with these 16 bits. */
export function bfloat16ToFloat(bfloat16: number): number {
  scratchBits[0] = bfloat16 << 16
  return scratchFloat[0] as number
}

/** The 16 bits of the bfloat16 nearest to `value`, which is rounded to float32 first. */
export function floatToBfloat16(value: number): number {
  scratchFloat[0] = value
  return floatBitsToBfloat16(scratchBits[0] as number)
}

function floatBitsToBfloat16(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16
}

/** The value of the little-endian IEEE half at byte `at`. */
export function halfAt(bytes: Uint8Array, at: number): number {
  return halfToFloat((bytes[at] as number) | ((bytes[at + 1] as number) << 8))
}

/** Decodes little-endian halves: `bytes` has two per element of `out`. */
export function decodeHalves(bytes: Uint8Array, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = halfAt(bytes, i * 2)
}

/** Encodes to little-endian halves: `out` has two bytes per element of `values`. */
export function encodeHalves(values: Float32Array, out: Uint8Array): void {
  const bits = bitsOf(values)
  for (let i = 0, at = 0; i < bits.length; i++, at += 2) {
    const half = floatBitsToHalf(bits[i] as number)
    out[at] = half
    out[at + 1] = half >>> 8
  }
}

/** Decodes little-endian bfloat16: `bytes` has two per element of `out`. */
export function decodeBfloat16s(bytes: Uint8Array, out: Float32Array): void {
  const bits = bitsOf(out)
  for (let i = 0, at = 0; i < bits.length; i++, at += 2) {
    bits[i] = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 24)
  }
}

/** Encodes to little-endian bfloat16: `out` has two bytes per element of `values`. */
export function encodeBfloat16s(values: Float32Array, out: Uint8Array): void {
  const bits = bitsOf(values)
  for (let i = 0, at = 0; i < bits.length; i++, at += 2) {
    const bfloat16 = floatBitsToBfloat16(bits[i] as number)
    out[at] = bfloat16
    out[at + 1] = bfloat16 >>> 8
  }
}

function bitsOf(values: Float32Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length)
}
