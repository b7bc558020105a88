/** Values that a 4-bit code stands for in the non-linear types (ggml-org/ggml `src/ggml-common.h`). */
export const IQ4_VALUES: Float32Array = Float32Array.of(
  ...[-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
)

/** E2M1 values, doubled so that they are whole; the block scale is halved in return. */
export const MXFP4_VALUES: Float32Array = Float32Array.of(
  ...[0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12],
)

// The midpoints between neighbouring values are multiples of 1/2, so halves decide: entry h is for [h/2, h/2 + 1/2).
const FIRST_HALF = -256
const IQ4_CODE_BY_HALF = Uint8Array.from({ length: 512 }, (_, index) => {
  const value = (index + FIRST_HALF) / 2
  let code = 0
  while (code < 15 && value >= ((IQ4_VALUES[code] as number) + (IQ4_VALUES[code + 1] as number)) / 2) code++
  return code
})

/** The IQ4 code whose value is nearest; of two equally near ones the larger. */
export function nearestIq4Code(value: number): number {
  const index = Math.floor(2 * value) - FIRST_HALF
  return IQ4_CODE_BY_HALF[Math.max(0, Math.min(511, index))] as number
}
