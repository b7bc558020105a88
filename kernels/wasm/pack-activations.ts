// Activations of four tokens in the order in which the tile kernels read them, so that one pointer serves a tile.
// One record per unit of weights (unpack-panel.ts), `vectors` words of four elements:
//
//   bytes:  word j of token 0..3 (4 bytes each) for all j | seeds 2 x 4 x 4 | 4 f32 scales | 4 f32 sums
//   words:  word j of token 0..3 (4 int16 each) for all j | 4 f32 scales | 4 f32 sums
//   pairs:  as words, but first elements 0 and 1 of word j of token 0..3, then elements 2 and 3
//
// A sum is scale * (sum of the unit's activations), which a weight minimum multiplies. Seeds start the integer sums so
// that the weights' offset costs nothing in the inner loop: -offset times the unit's sum as int32 for the `add` form;
// for the `wide` form two int16, -offset times the sums of the elements that its even and odd lanes meet, per group
// of vectors that is summed in 16 bits.


// @ts-ignore: decorator
@inline
export function byteRecordBytes(vectors: usize): usize {
  return (vectors << 4) + 64
}

// @ts-ignore: decorator
@inline
export function wordRecordBytes(vectors: usize): usize {
  return (vectors << 5) + 32
}

/** Adds the lanes of int16 pairs: (a0 b0 a1 b1 a2 b2 a3 b3) to (a b) in lane 0. */
// @ts-ignore: decorator
@inline
function foldPairs(pairs: v128): v128 {
  const half = i16x8.add(pairs, v128.shuffle<i32>(pairs, pairs, 2, 3, 0, 1))
  return i16x8.add(half, v128.shuffle<i32>(half, half, 1, 0, 3, 2))
}

// @ts-ignore: decorator
@inline
function unitSum(sums: usize, vectors: usize): i32 {
  return vectors == 8 ? load<i32>(sums) + load<i32>(sums, 4) : load<i32>(sums)
}

/** Writes the words of one token and returns nothing; `step` 8, 4 or 2 vectors share a pair seed. */
// @ts-ignore: decorator
@inline
function packToken(x: usize, record: usize, vectors: usize, step: usize, offset: i32, sum: i32): void {
  const first = v128.load(x)
  v128.store32_lane(record, first, 0)
  v128.store32_lane(record, first, 1, 16)
  v128.store32_lane(record, first, 2, 32)
  v128.store32_lane(record, first, 3, 48)
  const seeds = record + (vectors << 4)
  const factor = i16x8.splat(<i16>-offset)
  const pairs = i16x8.extadd_pairwise_i8x16_s(first)
  if (vectors == 8) {
    const second = v128.load(x, 16)
    v128.store32_lane(record, second, 0, 64)
    v128.store32_lane(record, second, 1, 80)
    v128.store32_lane(record, second, 2, 96)
    v128.store32_lane(record, second, 3, 112)
    const later = i16x8.extadd_pairwise_i8x16_s(second)
    if (step == 8) {
      v128.store32_lane(seeds, i16x8.mul(foldPairs(i16x8.add(pairs, later)), factor), 0)
    } else if (step == 4) {
      v128.store32_lane(seeds, i16x8.mul(foldPairs(pairs), factor), 0)
      v128.store32_lane(seeds, i16x8.mul(foldPairs(later), factor), 0, 16)
    }
  } else if (step == 2) {
    const folded = i16x8.mul(i16x8.add(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 3, 2)), factor)
    v128.store32_lane(seeds, folded, 0)
    v128.store32_lane(seeds, folded, 2, 16)
  }
  if (step == 0) store<i32>(seeds, -offset * sum)
}

/**
 * `count` tokens from `first` on to tiles of four, missing ones as zeros. `step` 0 makes the seeds of the `add` form.
 * Regions of x as in ops.ts, of `m` rows.
 */
// @ts-ignore: decorator
@inline
export function packBytes(x: usize, m: i32, padded: i32, first: i32, count: i32, vectors: usize, step: usize, offset: i32, out: usize): void {
  const scales = x + <usize>m * padded
  const sums = scales + <usize>m * (padded >> 3)
  const units = padded / (<i32>vectors << 2)
  const recordBytes = byteRecordBytes(vectors)
  const tileBytes = <usize>units * recordBytes
  const tail = (vectors << 4) + 32
  for (let token = 0; token < ((count + 3) & ~3); token++) {
    let record = out + <usize>(token >> 2) * tileBytes + (<usize>(token & 3) << 2)
    if (token >= count) {
      for (let unit = 0; unit < units; unit++) {
        for (let at: usize = 0; at < recordBytes; at += 16) store<i32>(record + at, 0)
        record += recordBytes
      }
      continue
    }
    const row = <usize>(first + token)
    let from = x + row * padded
    const scale = scales + row * (padded >> 3)
    let sum = sums + row * (padded >> 2)
    for (let unit = 0; unit < units; unit++) {
      const total = unitSum(sum, vectors)
      const factor = load<f32>(scale + (<usize>(vectors == 8 ? unit : unit >> 1) << 2))
      packToken(from, record, vectors, step, offset, total)
      store<f32>(record + tail, factor)
      store<f32>(record + tail, <f32>total * factor, 16)
      record += recordBytes
      from += vectors << 2
      sum += vectors
    }
  }
}

/** As `packBytes`, activations widened to int16, as words or as pairs. */
// @ts-ignore: decorator
@inline
export function packWords(x: usize, m: i32, padded: i32, first: i32, count: i32, vectors: usize, pairs: bool, out: usize): void {
  const scales = x + <usize>m * padded
  const sums = scales + <usize>m * (padded >> 3)
  const units = padded / (<i32>vectors << 2)
  const recordBytes = wordRecordBytes(vectors)
  const tileBytes = <usize>units * recordBytes
  const tail = vectors << 5
  for (let token = 0; token < ((count + 3) & ~3); token++) {
    const tile = out + <usize>(token >> 2) * tileBytes
    const lane = <usize>(token & 3)
    const row = <usize>(first + token)
    let from = x + row * padded
    const scale = scales + row * (padded >> 3)
    let sum = sums + row * (padded >> 2)
    let record = tile
    for (let unit = 0; unit < units; unit++) {
      let factor: f32 = 0
      let total = 0
      if (token < count) {
        factor = load<f32>(scale + (<usize>(vectors == 8 ? unit : unit >> 1) << 2))
        total = unitSum(sum, vectors)
      }
      for (let j: usize = 0; j < vectors; j += 2) {
        const words = token < count ? i16x8.extend_low_i8x16_s(v128.load64_zero(from + (j << 2))) : i16x8.splat(0)
        if (pairs) {
          const to = record + (j << 5) + (lane << 2)
          v128.store32_lane(to, words, 0)
          v128.store32_lane(to, words, 1, 16)
          v128.store32_lane(to, words, 2, 32)
          v128.store32_lane(to, words, 3, 48)
        } else {
          const to = record + (j << 5) + (lane << 3)
          v128.store64_lane(to, words, 0)
          v128.store64_lane(to, words, 1, 32)
        }
      }
      store<f32>(record + tail + (lane << 2), factor)
      store<f32>(record + tail + (lane << 2), <f32>total * factor, 16)
      record += recordBytes
      from += vectors << 2
      sum += vectors
    }
  }
}
