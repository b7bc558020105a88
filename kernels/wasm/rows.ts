// Sums and moves of rows of float32.

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
