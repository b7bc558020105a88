// Pointwise work and moves on rows of float32.

import { exp, madd, sigmoid } from './simd'

const GELU_CUBE = memory.data<f32>([0.044715, 0.044715, 0.044715, 0.044715], 16)
const GELU_SLOPE = memory.data<f32>([1.5957691216057308, 1.5957691216057308, 1.5957691216057308, 1.5957691216057308], 16)

export function siluMul(gate: usize, up: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  let at = (<usize>begin * columns) << 2
  const stop = (<usize>end * columns) << 2
  for (; at + 16 <= stop; at += 16) {
    const g = v128.load(gate + at)
    v128.store(out + at, f32x4.mul(f32x4.mul(g, sigmoid(g)), v128.load(up + at)))
  }
  for (; at < stop; at += 4) {
    const g = v128.load32_splat(gate + at)
    store<f32>(out + at, f32x4.extract_lane(f32x4.mul(g, sigmoid(g)), 0) * load<f32>(up + at))
  }
}

/** 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³))) = x sigmoid(2 sqrt(2/pi) (x + 0.044715 x³)). */
// @ts-ignore: decorator
@inline
function geluTanh(x: v128): v128 {
  const cubic = madd(f32x4.mul(f32x4.mul(x, x), x), v128.load(GELU_CUBE), x)
  return f32x4.mul(x, sigmoid(f32x4.mul(cubic, v128.load(GELU_SLOPE))))
}

// @ts-ignore: decorator
@inline
function geluQuick(x: v128): v128 {
  return f32x4.mul(x, sigmoid(f32x4.mul(x, f32x4.splat(1.702))))
}

/** x (1 + erf(x / sqrt 2)) / 2 with Abramowitz & Stegun 7.1.26: |error of erf| < 1.5e-7. */
// @ts-ignore: decorator
@inline
function geluErf(x: v128): v128 {
  const z = f32x4.mul(f32x4.abs(x), f32x4.splat(0.7071067811865476))
  const t = f32x4.div(f32x4.splat(1.0), madd(z, f32x4.splat(0.3275911), f32x4.splat(1.0)))
  let p = f32x4.splat(1.061405429)
  p = madd(p, t, f32x4.splat(-1.453152027))
  p = madd(p, t, f32x4.splat(1.421413741))
  p = madd(p, t, f32x4.splat(-0.284496736))
  p = madd(p, t, f32x4.splat(0.254829592))
  const tail = f32x4.mul(f32x4.mul(p, t), exp(f32x4.neg(f32x4.mul(z, z)))) // 1 - erf(z)
  const whole = f32x4.sub(f32x4.splat(1.0), f32x4.mul(tail, f32x4.splat(0.5))) // (1 + erf(z)) / 2
  const share = v128.bitselect(f32x4.mul(tail, f32x4.splat(0.5)), whole, f32x4.lt(x, f32x4.splat(0)))
  return f32x4.mul(x, share)
}

// @ts-ignore: decorator
@inline
function activateOne(kind: i32, x: v128): v128 {
  if (kind == 0) return geluTanh(x)
  return kind == 1 ? geluQuick(x) : geluErf(x)
}

export function activate(x: usize, kind: i32, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  let at = x + ((<usize>begin * columns) << 2)
  const stop = x + ((<usize>end * columns) << 2)
  for (; at + 16 <= stop; at += 16) v128.store(at, activateOne(kind, v128.load(at)))
  for (; at < stop; at += 4) store<f32>(at, f32x4.extract_lane(activateOne(kind, v128.load32_splat(at)), 0))
}

export function addRows(x: usize, y: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  let at = (<usize>begin * columns) << 2
  const stop = (<usize>end * columns) << 2
  for (; at + 16 <= stop; at += 16) v128.store(x + at, f32x4.add(v128.load(x + at), v128.load(y + at)))
  for (; at < stop; at += 4) store<f32>(x + at, load<f32>(x + at) + load<f32>(y + at))
}

export function copyRows(source: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const first = (<usize>begin * columns) << 2
  memory.copy(out + first, source + first, (<usize>(end - begin) * columns) << 2)
}

export function xorRows(x: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  for (let row = begin; row < end; row++) {
    let at = x + ((<usize>row * columns) << 2)
    const stop = at + (<usize>columns << 2)
    let a = i32x4.splat(0)
    let b = a
    let c = a
    let d = a
    for (; at + 64 <= stop; at += 64) {
      a = v128.xor(a, v128.load(at))
      b = v128.xor(b, v128.load(at, 16))
      c = v128.xor(c, v128.load(at, 32))
      d = v128.xor(d, v128.load(at, 48))
    }
    a = v128.xor(v128.xor(a, b), v128.xor(c, d))
    let word = i32x4.extract_lane(a, 0) ^ i32x4.extract_lane(a, 1) ^ i32x4.extract_lane(a, 2) ^ i32x4.extract_lane(a, 3)
    for (; at < stop; at += 4) word ^= load<i32>(at)
    store<i32>(out + (<usize>row << 2), word)
  }
}

export function extractPatches(
  pixels: usize, out: usize, channels: i32, height: i32, width: i32, patch: i32, patchRows: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  const patchColumns = width / patch
  const lineBytes = <usize>patch << 2
  for (let row = begin; row < end; row++) {
    let to = out + <usize>row * <usize>patchColumns * <usize>(channels * patch) * lineBytes
    for (let column = 0; column < patchColumns; column++) {
      for (let channel = 0; channel < channels; channel++) {
        let from = pixels + ((<usize>(channel * height + row * patch) * width + <usize>(column * patch)) << 2)
        for (let y = 0; y < patch; y++) {
          memory.copy(to, from, lineBytes)
          to += lineBytes
          from += <usize>width << 2
        }
      }
    }
  }
}

export function pixelShuffle(
  x: usize, out: usize, gridRows: i32, gridColumns: i32, columns: i32, factor: i32, begin: i32, end: i32, scratch: usize,
): void {
  const outColumns = gridColumns / factor
  const bytes = <usize>columns << 2
  for (let row = begin; row < end; row++) {
    for (let column = 0; column < gridColumns; column++) {
      const target = (row / factor) * outColumns + column / factor
      const part = (row % factor) * factor + (column % factor)
      memory.copy(
        out + (<usize>target * <usize>(factor * factor) + <usize>part) * bytes,
        x + (<usize>row * gridColumns + column) * bytes,
        bytes,
      )
    }
  }
}

export function poolRows(
  x: usize, out: usize, rows: i32, gridColumns: i32, columns: i32, factor: i32, begin: i32, end: i32, scratch: usize,
): void {
  const outColumns = gridColumns / factor
  const bytes = <usize>columns << 2
  const lineBytes = <usize>gridColumns * bytes
  const count = <f32>(factor * factor)
  for (let row = begin; row < end; row++) {
    for (let column = 0; column < outColumns; column++) {
      const corner = x + (<usize>(row * factor) * gridColumns + <usize>(column * factor)) * bytes
      const to = out + (<usize>row * outColumns + column) * bytes
      let at: usize = 0
      for (; at + 16 <= bytes; at += 16) {
        let sum = f32x4.splat(0)
        for (let y = 0; y < factor; y++) {
          let from = corner + <usize>y * lineBytes + at
          for (let i = 0; i < factor; i++) {
            sum = f32x4.add(sum, v128.load(from))
            from += bytes
          }
        }
        v128.store(to + at, f32x4.div(sum, f32x4.splat(count)))
      }
      for (; at < bytes; at += 4) {
        let sum: f32 = 0
        for (let y = 0; y < factor; y++) {
          let from = corner + <usize>y * lineBytes + at
          for (let i = 0; i < factor; i++) {
            sum += load<f32>(from)
            from += bytes
          }
        }
        store<f32>(to + at, sum / count)
      }
    }
  }
}
