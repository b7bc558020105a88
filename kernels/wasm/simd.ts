// Small vector helpers that several kernels share. Everything here is inlined.

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

// @ts-ignore: decorator
@inline
export function maxLanes(v: v128): f32 {
  const pairs = f32x4.max(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.max(pairs, v128.shuffle<f32>(pairs, pairs, 1, 0, 3, 2)), 0)
}

/**
 * Four half-precision numbers (low 64 bits) to float32, exact for finite values: the exponent and fraction are moved in
 * place and the bias difference (112) is multiplied away, which also makes subnormals right. Infinity becomes 65536
 * and NaN a large number, which scales of weights never are; `halfToFloatExact` keeps them.
 */
// @ts-ignore: decorator
@inline
export function halfToFloat(halves: v128): v128 {
  const moved = v128.and(i32x4.shl(i32x4.extend_low_i16x8_s(halves), 13), i32x4.splat(0x8fffe000))
  return f32x4.mul(moved, i32x4.splat(0x77800000)) // 2^112
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
 * to the exponent. Arguments are clamped to the range whose result is a normal number.
 */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const clamped = f32x4.max(f32x4.min(x, f32x4.splat(88.0)), f32x4.splat(-87.0))
  const n = f32x4.nearest(f32x4.mul(clamped, f32x4.splat(1.44269504088896341)))
  let r = madd(n, f32x4.splat(-0.693359375), clamped)
  r = madd(n, f32x4.splat(2.12194440e-4), r)
  let p = f32x4.splat(1.9875691500e-4)
  p = madd(p, r, f32x4.splat(1.3981999507e-3))
  p = madd(p, r, f32x4.splat(8.3334519073e-3))
  p = madd(p, r, f32x4.splat(4.1665795894e-2))
  p = madd(p, r, f32x4.splat(1.6666665459e-1))
  p = madd(p, r, f32x4.splat(5.0000001201e-1))
  p = f32x4.add(madd(p, f32x4.mul(r, r), r), f32x4.splat(1.0))
  const exponent = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23)
  return f32x4.mul(p, exponent)
}

/** 1 / (1 + e^-x). */
// @ts-ignore: decorator
@inline
export function sigmoid(x: v128): v128 {
  return f32x4.div(f32x4.splat(1.0), f32x4.add(f32x4.splat(1.0), exp(f32x4.neg(x))))
}
