// Activations to int8 in blocks of 32; layout in ops.ts. Rounding is half to even and all steps are float32, so that
// every driver gives the same bytes.

export function quantizeRows(x: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const padded = <usize>((columns + 31) & ~31)
  const scales = out + <usize>rows * padded
  const sums = scales + <usize>rows * (padded >> 3)
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * columns) << 2)
    const to = out + <usize>row * padded
    const scale = scales + <usize>row * (padded >> 3)
    const sum = sums + <usize>row * (padded >> 2)
    const whole = columns >> 5
    for (let block = 0; block < whole; block++) {
      const b = <usize>block
      quantizeBlock(from + (b << 7), to + (b << 5), scale + (b << 2), sum + (b << 3))
    }
    const rest = columns & 31
    if (rest != 0) {
      const b = <usize>whole
      memory.fill(scratch, 0, 128)
      memory.copy(scratch, from + (b << 7), <usize>rest << 2)
      quantizeBlock(scratch, to + (b << 5), scale + (b << 2), sum + (b << 3))
    }
  }
}

const MAGNITUDE = memory.data<u32>([0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff], 16)

// @ts-ignore: decorator
@inline
function magnitude(x: usize): v128 {
  return v128.and(v128.load(x), v128.load(MAGNITUDE))
}

/** Largest magnitude of 16, as bits: positive floats and their bits have the same order, and NaN is above all. */
// @ts-ignore: decorator
@inline
function largestOfFour(x: usize): v128 {
  return i32x4.max_s(
    i32x4.max_s(magnitude(x), magnitude(x + 16)),
    i32x4.max_s(magnitude(x + 32), magnitude(x + 48)),
  )
}

/** 16 float32 to 16 int8; returns their sum. */
// @ts-ignore: decorator
@inline
export function quantizeHalf(x: usize, out: usize, inverse: v128): i32 {
  const a = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x), inverse)))
  const b = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x, 16), inverse)))
  const c = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x, 32), inverse)))
  const d = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x, 48), inverse)))
  const low = i16x8.narrow_i32x4_s(a, b)
  const high = i16x8.narrow_i32x4_s(c, d)
  // The second narrowing saturates at -128; -127 keeps the range symmetric.
  const bytes = i8x16.max_s(i8x16.narrow_i16x8_s(low, high), i8x16.splat(-127))
  v128.store(out, bytes)
  const words = i16x8.extadd_pairwise_i8x16_s(bytes)
  const sums = i32x4.extadd_pairwise_i16x8_s(words)
  return i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)
}

/** Of 32, as `largestOfFour`. */
// @ts-ignore: decorator
@inline
export function largestMagnitude(x: usize): f32 {
  let largest = i32x4.max_s(largestOfFour(x), largestOfFour(x + 64))
  largest = i32x4.max_s(largest, v128.shuffle<i32>(largest, largest, 2, 3, 0, 1))
  largest = i32x4.max_s(largest, v128.shuffle<i32>(largest, largest, 1, 0, 3, 2))
  return f32x4.extract_lane(largest, 0)
}

// @ts-ignore: decorator
@inline
function quantizeBlock(x: usize, out: usize, scale: usize, sum: usize): void {
  const amax = largestMagnitude(x)
  store<f32>(scale, amax / 127)
  const inverse = f32x4.splat(amax > 0 ? 127 / amax : 0)
  store<i32>(sum, quantizeHalf(x, out, inverse))
  store<i32>(sum, quantizeHalf(x + 64, out + 16, inverse), 4)
}
