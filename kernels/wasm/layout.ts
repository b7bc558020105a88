// Packed weight layouts. A matrix is cut into panels of 8 rows; a panel's blocks follow each other along the
// row, so that matrix-vector work reads one contiguous stream. Inside a block the rows are interleaved in
// 4-byte words: lane r of a 128-bit load belongs to row r, so products need no horizontal adds.
//
//   half h (rows 4h..4h+3), word j:   [row 0: 4 bytes][row 1: 4 bytes][row 2: 4 bytes][row 3: 4 bytes]
//
//   Q4_0, IQ4_NL  144 = words h0 j0..3, h1 j0..3 (low nibbles: elements 4j.., high: 16 + 4j..) | 8 f16 scales
//   Q4_1          160 = as Q4_0 | 8 f16 scales | 8 f16 minimums
//   Q5_0          176 = as Q4_0 | fifth bits h0, h1 (bit j of byte i: element 4j + i) | 8 f16 scales
//   Q5_1          192 = as Q5_0 | 8 f16 minimums
//   Q8_0          272 = words h0 j0..7, h1 j0..7 | 8 f16 scales
//   Q4_K         1184 = 4 x (words h0 j0..7, h1 j0..7) | 8 f16 d | 8 f16 dmin | scales [8][8 rows] u8 | mins [8][8] u8
//   Q5_K         1440 = as Q4_K's words | fifth bits: words h0 j0..7, h1 j0..7 | the rest as Q4_K
//   Q6_K         1680 = low nibbles: 16 words h0, h1 | high pairs: 8+8 words h0, h1 (per 128 elements) | scales [16][8] i8 | 8 f16 d
//   F16, BF16      16 per column: 8 rows;   F32  32 per column: 8 rows
//
// The words' bytes are those of the GGUF blocks (engine facts 4.2); K-quants spend 2.7% on unpacked 6-bit scales.

export const F32: i32 = 0
export const F16: i32 = 1
export const Q4_0: i32 = 2
export const Q4_1: i32 = 3
export const Q5_0: i32 = 6
export const Q5_1: i32 = 7
export const Q8_0: i32 = 8
export const Q4_K: i32 = 12
export const Q5_K: i32 = 13
export const Q6_K: i32 = 14
export const IQ4_NL: i32 = 20
export const BF16: i32 = 30

/** Bytes of one packed block of 8 rows. */
export function packedBlockBytes(type: i32): i32 {
  switch (type) {
    case F32: return 32
    case F16:
    case BF16: return 16
    case Q4_0:
    case IQ4_NL: return 144
    case Q4_1: return 160
    case Q5_0: return 176
    case Q5_1: return 192
    case Q8_0: return 272
    case Q4_K: return 1184
    case Q5_K: return 1440
    case Q6_K: return 1680
    default: return 0
  }
}

/** Bytes of one block in the file. */
export function fileBlockBytes(type: i32): i32 {
  switch (type) {
    case F32: return 4
    case F16:
    case BF16: return 2
    case Q4_0:
    case IQ4_NL: return 18
    case Q4_1: return 20
    case Q5_0: return 22
    case Q5_1: return 24
    case Q8_0: return 34
    case Q4_K: return 144
    case Q5_K: return 176
    case Q6_K: return 210
    default: return 0
  }
}

/** Elements of one block. */
// @ts-ignore: decorator
@inline
export function blockLength(type: i32): i32 {
  if (type == F32 || type == F16 || type == BF16) return 1
  return type == Q4_K || type == Q5_K || type == Q6_K ? 256 : 32
}

// @ts-ignore: decorator
@inline
export function blocksPerRow(type: i32, columns: i32): i32 {
  const length = blockLength(type)
  return (columns + length - 1) / length
}
