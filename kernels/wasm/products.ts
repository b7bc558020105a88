// Products of int8 activations with unsigned weights below 128, four elements to a lane, in the two forms that tile-dot.ts
// explains. Only the relaxed build calls them; the baseline build compiles them to nothing.

/** In memory, as all vector constants: see simd.ts. */
const ONES = memory.data<u16>([1, 1, 1, 1, 1, 1, 1, 1], 16)

/** Adds products of four to int32 sums. */
// @ts-ignore: decorator
@inline
export function dot(x: v128, w: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(x, w, sum)
  return sum
}

/** Adds products of pairs to int16 sums. */
// @ts-ignore: decorator
@inline
export function wide(x: v128, w: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i16x8.add(sum, i16x8.relaxed_dot_i8x16_i7x16_s(x, w))
  return sum
}

/** int16 sums of pairs to int32 sums of four. */
// @ts-ignore: decorator
@inline
export function widen(pairs: v128): v128 {
  return i32x4.dot_i16x8_s(pairs, v128.load(ONES))
}

/**
 * Adds the products of four elements of four rows, in lanes of `Sum`: i16 pairs where that saves instructions, else i32.
 * A type and no flag, so that the compiler has no two bodies that differ in a number only and makes them one.
 */
// @ts-ignore: decorator
@inline
export function multiply<Sum>(x: v128, w: v128, sum: v128): v128 {
  return sizeof<Sum>() == 2 ? wide(x, w, sum) : dot(x, w, sum)
}

/** Sums in lanes of `Sum` as float32. */
// @ts-ignore: decorator
@inline
export function toFloat<Sum>(sum: v128): v128 {
  return f32x4.convert_i32x4_s(sizeof<Sum>() == 2 ? widen(sum) : sum)
}
