// Activation functions, gates, and the products that go with them, on rows of float32.

import { exp, madd, sigmoid, tanh } from './simd'

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

/** The activation of code `kind`. NaN stays NaN (`pmax` keeps its first argument when it compares as false). */
// @ts-ignore: decorator
@inline
function activateOne(kind: i32, x: v128): v128 {
  switch (kind) {
    case 0: return geluTanh(x)
    case 1: return geluQuick(x)
    case 2: return geluErf(x)
    case 3: return f32x4.pmax(x, f32x4.splat(0))
    case 4: return tanh(x)
    case 5: return sigmoid(x)
    default: return f32x4.mul(x, sigmoid(x))
  }
}

/** Inlined with a constant `kind`, so that the choice is made once. Returns where the vectors end. */
// @ts-ignore: decorator
@inline
function activateVectors(kind: i32, at: usize, stop: usize): usize {
  for (; at + 16 <= stop; at += 16) v128.store(at, activateOne(kind, v128.load(at)))
  return at
}

export function activate(x: usize, kind: i32, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  let at = x + ((<usize>begin * columns) << 2)
  const stop = x + ((<usize>end * columns) << 2)
  switch (kind) {
    case 0: at = activateVectors(0, at, stop); break
    case 1: at = activateVectors(1, at, stop); break
    case 2: at = activateVectors(2, at, stop); break
    case 3: at = activateVectors(3, at, stop); break
    case 4: at = activateVectors(4, at, stop); break
    case 5: at = activateVectors(5, at, stop); break
    default: at = activateVectors(6, at, stop); break
  }
  for (; at < stop; at += 4) store<f32>(at, f32x4.extract_lane(activateOne(kind, v128.load32_splat(at)), 0))
}

export function leakyRelu(x: usize, rows: i32, columns: i32, slope: f32, begin: i32, end: i32, scratch: usize): void {
  let at = x + ((<usize>begin * columns) << 2)
  const stop = x + ((<usize>end * columns) << 2)
  const slopes = f32x4.splat(slope)
  for (; at + 16 <= stop; at += 16) {
    const value = v128.load(at)
    v128.store(at, v128.bitselect(f32x4.mul(value, slopes), value, f32x4.lt(value, f32x4.splat(0))))
  }
  for (; at < stop; at += 4) {
    const value = load<f32>(at)
    if (value < 0) store<f32>(at, value * slope)
  }
}

export function tanhSigmoidMul(x: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const bytes = <usize>columns << 2
  for (let row = begin; row < end; row++) {
    const from = x + <usize>row * (bytes << 1)
    const to = out + <usize>row * bytes
    let at: usize = 0
    for (; at + 16 <= bytes; at += 16) {
      v128.store(to + at, f32x4.mul(tanh(v128.load(from + at)), sigmoid(v128.load(from + bytes + at))))
    }
    for (; at < bytes; at += 4) {
      const product = f32x4.mul(tanh(v128.load32_splat(from + at)), sigmoid(v128.load32_splat(from + bytes + at)))
      store<f32>(to + at, f32x4.extract_lane(product, 0))
    }
  }
}
