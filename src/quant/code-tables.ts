/** Values that a 4-bit code stands for in the non-linear types (ggml-org/ggml `src/ggml-common.h`). */
export const IQ4_VALUES: Float32Array = Float32Array.of(
  ...[-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
)

/** E2M1 values, doubled so that they are whole; the block scale is halved in return. */
export const MXFP4_VALUES: Float32Array = Float32Array.of(
  ...[0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12],
)
