// Rotary position embedding in place; cosines and sines come from the caller, who computes them in double precision.

export function rope(
  x: usize, table: usize, rows: i32, heads: i32, headDim: i32, rotaryDim: i32, pairing: i32, begin: i32, end: i32, scratch: usize,
): void {
  const half = rotaryDim >> 1
  const headBytes = <usize>headDim << 2
  for (let row = begin; row < end; row++) {
    const cosines = table + (<usize>row * rotaryDim << 2)
    const sines = cosines + (<usize>half << 2)
    let head = x + <usize>row * <usize>heads * headBytes
    for (let h = 0; h < heads; h++) {
      if (pairing == 0) rotateHalves(head, cosines, sines, half)
      else rotateNeighbours(head, cosines, sines, half)
      head += headBytes
    }
  }
}

function rotateHalves(head: usize, cosines: usize, sines: usize, half: i32): void {
  const second = head + (<usize>half << 2)
  let i = 0
  for (; i + 4 <= half; i += 4) {
    const at = <usize>i << 2
    const a = v128.load(head + at)
    const b = v128.load(second + at)
    const c = v128.load(cosines + at)
    const s = v128.load(sines + at)
    v128.store(head + at, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)))
    v128.store(second + at, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)))
  }
  for (; i < half; i++) {
    const at = <usize>i << 2
    const a = load<f32>(head + at)
    const b = load<f32>(second + at)
    store<f32>(head + at, a * load<f32>(cosines + at) - b * load<f32>(sines + at))
    store<f32>(second + at, b * load<f32>(cosines + at) + a * load<f32>(sines + at))
  }
}

function rotateNeighbours(head: usize, cosines: usize, sines: usize, half: i32): void {
  for (let i = 0; i < half; i++) {
    const at = <usize>i << 2
    const pair = head + (<usize>i << 3)
    const a = load<f32>(pair)
    const b = load<f32>(pair, 4)
    store<f32>(pair, a * load<f32>(cosines + at) - b * load<f32>(sines + at))
    store<f32>(pair, b * load<f32>(cosines + at) + a * load<f32>(sines + at), 4)
  }
}
