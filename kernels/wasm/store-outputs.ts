// The end of every linear layer: bias, accumulation, and panels whose last rows do not exist.

// @ts-ignore: decorator
@inline
export function storeOutputs(out: usize, rows: i32, first: v128, second: v128, bias: usize, accumulate: bool): void {
  let a = first
  let b = second
  if (bias != 0) {
    a = f32x4.add(a, v128.load(bias))
    b = f32x4.add(b, v128.load(bias, 16))
  }
  if (rows >= 8) {
    if (accumulate) {
      a = f32x4.add(a, v128.load(out))
      b = f32x4.add(b, v128.load(out, 16))
    }
    v128.store(out, a)
    v128.store(out, b, 16)
  } else {
    storePartial(out, rows, a, b, accumulate)
  }
}

function storePartial(out: usize, rows: i32, first: v128, second: v128, accumulate: bool): void {
  let rest = first
  for (let row = 0; row < rows; row++) {
    if (row == 4) rest = second
    const at = out + (<usize>row << 2)
    const value = f32x4.extract_lane(rest, 0)
    store<f32>(at, accumulate ? load<f32>(at) + value : value)
    rest = v128.shuffle<f32>(rest, rest, 1, 2, 3, 0)
  }
}

/** Up to four tokens' outputs of a panel: pairs of vectors, rows 0..3 and 4..7. */
export function storeTile(
  out: usize, outStride: usize, tokens: i32, rows: i32,
  f0: v128, g0: v128, f1: v128, g1: v128, f2: v128, g2: v128, f3: v128, g3: v128, bias: usize, accumulate: bool,
): void {
  storeOutputs(out, rows, f0, g0, bias, accumulate)
  if (tokens > 1) storeOutputs(out + outStride, rows, f1, g1, bias, accumulate)
  if (tokens > 2) storeOutputs(out + outStride * 2, rows, f2, g2, bias, accumulate)
  if (tokens > 3) storeOutputs(out + outStride * 3, rows, f3, g3, bias, accumulate)
}
