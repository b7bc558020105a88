// How this engine multiplies int8 with int8. The relaxed dot leaves open what happens when the second operand
// has its top bit set, and engines differ; so it is tried once per instance (web facts, section 3).

/** No relaxed SIMD: products go through 16-bit words. */
export const WORDS: i32 = 0
/** Second operand is signed (Arm SDOT, AVX-VNNI-INT8): full int8 weights work as they are. */
export const SIGNED: i32 = 1
/** Second operand is unsigned and sums are exact (AVX-VNNI): weights are taken as w + 128. */
export const UNSIGNED: i32 = 2
/** Second operand is unsigned and pairs saturate at 16 bits (pmaddubsw): only weights below 128 are exact. */
export const SATURATING: i32 = 3

function probeDotKind(): i32 {
  if (!ASC_FEATURE_RELAXED_SIMD) return WORDS
  // Read from memory, so that the compiler cannot fold the answer in.
  const first = memory.data<u8>([0x80, 0x80, 0x80, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 16)
  const second = memory.data<u8>([129, 129, 129, 129, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 16)
  const sum = i32x4.extract_lane(i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(first), v128.load(second), i32x4.splat(0)), 0)
  if (sum == -128 * -127 * 4) return SIGNED
  return sum == -128 * 129 * 4 ? UNSIGNED : SATURATING
}

export const dotKind: i32 = probeDotKind()
