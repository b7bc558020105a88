// Small vector helpers that several kernels share. Everything here is inlined.
//
// Vector constants are kept in memory: V8 would otherwise build each one anew, three instructions at every use, while a
// load folds into the instruction that needs it.

/** A constant of four equal float32, as an address for `v128.load`. */
const HALF_SCALE = memory.data<u32>([0x77800000, 0x77800000, 0x77800000, 0x77800000], 16) // 2^112
const HALF_BITS = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000], 16)
const LOWEST_EXPONENT = memory.data<f32>([-87, -87, -87, -87], 16)
const HIGHEST_EXPONENT = memory.data<f32>([88, 88, 88, 88], 16)
const LOG2_E = memory.data<f32>([1.4426950408889634, 1.4426950408889634, 1.4426950408889634, 1.4426950408889634], 16)
const ROUNDER = memory.data<f32>([12582912, 12582912, 12582912, 12582912], 16) // 1.5 * 2^23
const MINUS_LN2_HIGH = memory.data<f32>([-0.693359375, -0.693359375, -0.693359375, -0.693359375], 16)
const MINUS_LN2_LOW = memory.data<f32>([2.1219444e-4, 2.1219444e-4, 2.1219444e-4, 2.1219444e-4], 16)
const EXP_5 = memory.data<f32>([1.987569150e-4, 1.987569150e-4, 1.987569150e-4, 1.987569150e-4], 16)
const EXP_4 = memory.data<f32>([1.3981999507e-3, 1.3981999507e-3, 1.3981999507e-3, 1.3981999507e-3], 16)
const EXP_3 = memory.data<f32>([8.3334519073e-3, 8.3334519073e-3, 8.3334519073e-3, 8.3334519073e-3], 16)
const EXP_2 = memory.data<f32>([4.1665795894e-2, 4.1665795894e-2, 4.1665795894e-2, 4.1665795894e-2], 16)
const EXP_1 = memory.data<f32>([1.6666665459e-1, 1.6666665459e-1, 1.6666665459e-1, 1.6666665459e-1], 16)
const EXP_0 = memory.data<f32>([5.0000001201e-1, 5.0000001201e-1, 5.0000001201e-1, 5.0000001201e-1], 16)
const ONE = memory.data<f32>([1, 1, 1, 1], 16)

/** a * b + c: fused where the engine has relaxed SIMD, two roundings otherwise. */
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c)
  return f32x4.add(f32x4.mul(a, b), c)
}

// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.add(pairs, v128.shuffle<f32>(pairs, pairs, 1, 0, 3, 2)), 0)
}

/**
 * Four half-precision numbers (low 64 bits) to float32, exact for finite values: the exponent and fraction are moved in
 * place and the bias difference (112) is multiplied away, which also makes subnormals right. Infinity becomes 65536
 * and NaN a large number, which scales of weights never are; `halfToFloatExact` keeps them.
 */
// @ts-ignore: decorator
@inline
export function halfToFloat(halves: v128): v128 {
  const moved = v128.and(i32x4.shl(i32x4.extend_low_i16x8_s(halves), 13), v128.load(HALF_BITS))
  return f32x4.mul(moved, v128.load(HALF_SCALE))
}

/** As `halfToFloat`, with infinities and NaN: values beyond the largest half get the largest exponent. */
// @ts-ignore: decorator
@inline
export function halfToFloatExact(halves: v128): v128 {
  const value = halfToFloat(halves)
  const special = f32x4.ge(f32x4.abs(value), f32x4.splat(65536))
  return v128.or(value, v128.and(special, i32x4.splat(0x7f800000)))
}

// @ts-ignore: decorator
@inline
export function loadHalves(pointer: usize): v128 {
  return halfToFloat(v128.load64_zero(pointer))
}

/**
 * Float32 to half precision, round to nearest even, in the low 16 bits of each lane. Values that do not fit
 * become infinity; NaN stays NaN. Method: for normal results add the rounding bias to the bits; for
 * subnormal ones let the float adder round by adding 0.5 (whose unit in the last place is 2^-24).
 */
// @ts-ignore: decorator
@inline
export function floatToHalf(value: v128): v128 {
  const sign = v128.and(i32x4.shr_u(value, 16), i32x4.splat(0x8000))
  const magnitude = v128.and(value, i32x4.splat(0x7fffffff))
  const odd = v128.and(i32x4.shr_u(magnitude, 13), i32x4.splat(1))
  const normal = i32x4.shr_u(i32x4.add(i32x4.add(magnitude, i32x4.splat(0xc8000fff)), odd), 13)
  const subnormal = i32x4.sub(f32x4.add(magnitude, f32x4.splat(0.5)), i32x4.splat(0x3f000000))
  const infinity = v128.bitselect(i32x4.splat(0x7e00), i32x4.splat(0x7c00), i32x4.gt_s(magnitude, i32x4.splat(0x7f800000)))
  const small = v128.bitselect(subnormal, normal, i32x4.lt_s(magnitude, i32x4.splat(0x38800000)))
  const large = i32x4.ge_s(magnitude, i32x4.splat(0x47800000))
  return v128.or(sign, v128.bitselect(infinity, small, large))
}

/**
 * e^x, within 2 units in the last place: x = n ln2 + r, a degree-6 polynomial for e^r (Cephes expf), n added
 * to the exponent. Arguments are clamped to the range whose result is a normal number. Adding 1.5 * 2^23 rounds to a
 * whole number and leaves it in the low bits, ready to be shifted to the exponent. NaN stays NaN. (`pmin` and `pmax` are
 * one instruction, `min` and `max` seven; they differ for NaN and signed zeros.)
 */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const clamped = f32x4.pmax(f32x4.pmin(x, v128.load(HIGHEST_EXPONENT)), v128.load(LOWEST_EXPONENT))
  const rounded = madd(clamped, v128.load(LOG2_E), v128.load(ROUNDER))
  const n = f32x4.sub(rounded, v128.load(ROUNDER))
  let r = madd(n, v128.load(MINUS_LN2_HIGH), clamped)
  r = madd(n, v128.load(MINUS_LN2_LOW), r)
  let p = v128.load(EXP_5)
  p = madd(p, r, v128.load(EXP_4))
  p = madd(p, r, v128.load(EXP_3))
  p = madd(p, r, v128.load(EXP_2))
  p = madd(p, r, v128.load(EXP_1))
  p = madd(p, r, v128.load(EXP_0))
  p = f32x4.add(madd(p, f32x4.mul(r, r), r), v128.load(ONE))
  return f32x4.mul(p, i32x4.add(i32x4.shl(rounded, 23), v128.load(ONE)))
}

/** 1 / (1 + e^-x). */
// @ts-ignore: decorator
@inline
export function sigmoid(x: v128): v128 {
  return f32x4.div(v128.load(ONE), f32x4.add(v128.load(ONE), exp(f32x4.neg(x))))
}

/**
 * tanh x, within 2 units in the last place: for |x| < 0.625 an odd polynomial (Cephes tanhf), which keeps small values
 * exact to their last bits; further out 1 - 2 / (e^2|x| + 1) with the sign of x. NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const magnitude = f32x4.abs(x)
  const square = f32x4.mul(x, x)
  let p = f32x4.splat(-5.70498872745e-3)
  p = madd(p, square, f32x4.splat(2.06390887954e-2))
  p = madd(p, square, f32x4.splat(-5.37397155531e-2))
  p = madd(p, square, f32x4.splat(1.33314422036e-1))
  p = madd(p, square, f32x4.splat(-3.33332819422e-1))
  const near = madd(f32x4.mul(p, square), x, x)
  const power = exp(f32x4.add(magnitude, magnitude))
  const far = f32x4.sub(v128.load(ONE), f32x4.div(f32x4.splat(2), f32x4.add(power, v128.load(ONE))))
  const signed = v128.or(far, v128.and(x, i32x4.splat(0x80000000)))
  return v128.bitselect(near, signed, f32x4.lt(magnitude, f32x4.splat(0.625)))
}
