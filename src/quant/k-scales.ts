/**
 * Q4_K and Q5_K pack eight 6-bit scales and eight 6-bit minimums of a super-block into 12 bytes:
 * bytes 0..3 hold scales 0..3, bytes 4..7 minimums 0..3, bytes 8..11 the low nibbles of scales (low half) and
 * minimums (high half) 4..7, whose upper two bits sit in the top of bytes 0..3 and 4..7.
 */

/** Unpacks the 12 bytes at `at` into `scales` and `mins` (8 each). */
export function unpackKScales(bytes: Uint8Array, at: number, scales: Uint8Array, mins: Uint8Array): void {
  for (let j = 0; j < 4; j++) {
    const scaleByte = bytes[at + j] as number
    const minByte = bytes[at + 4 + j] as number
    const nibbles = bytes[at + 8 + j] as number
    scales[j] = scaleByte & 63
    mins[j] = minByte & 63
    scales[j + 4] = (nibbles & 15) | ((scaleByte >> 6) << 4)
    mins[j + 4] = (nibbles >> 4) | ((minByte >> 6) << 4)
  }
}

/** The inverse of `unpackKScales`. */
export function packKScales(scales: Uint8Array, mins: Uint8Array, out: Uint8Array, at: number): void {
  for (let j = 0; j < 4; j++) {
    const upperScale = scales[j + 4] as number
    const upperMin = mins[j + 4] as number
    out[at + j] = (scales[j] as number) | ((upperScale >> 4) << 6)
    out[at + 4 + j] = (mins[j] as number) | ((upperMin >> 4) << 6)
    out[at + 8 + j] = (upperScale & 15) | ((upperMin & 15) << 4)
  }
}
