/**
 * The one table of operations. Drivers, the kernel dispatcher (generated from this table by
 * `scripts/build-kernels.mjs`), the scalar reference and the conformance suite all follow it.
 *
 * All matrices are row-major unless said otherwise; "matrix" is a weight in the driver's own packed layout,
 * made by `packRows`. A linear layer computes `out (m, n) = x (m, k) · matrixᵀ + bias`, matrix being (n, k).
 */

/** What an argument is; decides its TypeScript type and how a driver encodes it. */
export type ArgumentKind = 'buffer' | 'optional-buffer' | 'integer' | 'float' | 'type'

/** Weight types that matrices keep in memory. The codes are ggml's type ids. */
export const MATRIX_TYPES = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  IQ4_NL: 20,
  BF16: 30,
} as const

export type MatrixType = keyof typeof MATRIX_TYPES
export type FloatMatrixType = 'F32' | 'F16' | 'BF16'

export function isMatrixType(type: string): type is MatrixType {
  return Object.hasOwn(MATRIX_TYPES, type)
}

export function isFloatMatrixType(type: MatrixType): type is FloatMatrixType {
  return type === 'F32' || type === 'F16' || type === 'BF16'
}

/** Activation functions of `activate`. */
export const ACTIVATIONS = {
  geluTanh: 0,
  geluQuick: 1,
  geluErf: 2,
  relu: 3,
  tanh: 4,
  sigmoid: 5,
  silu: 6,
} as const
export type Activation = keyof typeof ACTIVATIONS

/** How `rope` pairs the elements of a head: (i, i + d/2) as in Hugging Face, or (2i, 2i + 1) as in GGUF arch llama. */
export const ROPE_PAIRINGS = { half: 0, adjacent: 1 } as const
export type RopePairing = keyof typeof ROPE_PAIRINGS

export interface OpRow {
  /** Arguments in the order in which kernels take them. */
  readonly args: Readonly<Record<string, ArgumentKind>>
  /**
   * The integer argument that counts the work, and how many of it make one independent piece: ceil(over / per)
   * pieces. With several names, the pieces of the last one are multiplied by the others.
   */
  readonly work: {
    readonly over: string | readonly string[]
    readonly per: number
    /** Pieces that share preparation, so that fewer at a time waste work. Default 1. */
    readonly together?: number
  }
  /**
   * Largest allowed difference from the reference, as a share of the largest absolute value of the expected
   * output. 0 means bit-identical.
   */
  readonly tolerance: number
}

/** Float reductions: drivers may add in another order and fuse multiply-add, so a few units in the last place. */
const F32_REDUCTION = 4e-6
/** One rounding per element at most differs. */
const F32_POINTWISE = 5e-7

export const OPS = {
  /**
   * Raw rows of a model file (type's own blocks, row after row) into the packed matrix, from row `firstRow`
   * on. `firstRow` is a multiple of 8 and so is `rows`, save for the matrix's last rows.
   */
  packRows: {
    args: {
      type: 'type',
      source: 'buffer', // (rows, columns) in blocks of `type`
      matrix: 'buffer', // whole packed matrix
      rows: 'integer',
      columns: 'integer',
      firstRow: 'integer',
    },
    work: { over: 'rows', per: 8 },
    tolerance: 0,
  },
  /** F32, F16 or BF16 rows to float32 rows. */
  decodeRows: {
    args: {
      type: 'type',
      source: 'buffer', // (rows, columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /** float32 rows to Q8_0 or Q4_0 blocks, round to nearest; each row is filled with zeros up to a whole block. */
  encodeRows: {
    args: {
      type: 'type',
      source: 'buffer', // f32 (rows, columns)
      out: 'buffer', // (rows, ceil(columns / 32)) blocks
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /** Embedding look-up: row `ids[i]` of the matrix, as float32. */
  gatherRows: {
    args: {
      type: 'type',
      matrix: 'buffer', // (*, columns)
      ids: 'buffer', // i32 (count)
      out: 'buffer', // f32 (count, columns)
      count: 'integer',
      columns: 'integer',
    },
    work: { over: 'count', per: 1 },
    tolerance: F32_POINTWISE,
  },
  /**
   * Activations to int8 in blocks of 32 along a row: scale = max|x| / 127, round half to even. `out` holds
   * int8 (rows, padded), f32 scales (rows, padded / 32), i32 sums of 16 (rows, padded / 16), padded being
   * columns rounded up to 32: see `quantizedByteLength`.
   */
  quantizeRows: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      out: 'buffer',
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /**
   * Linear layer on int8 activations from `quantizeRows` and a quantised matrix; int32 sums per block, float32 across.
   * The bits of a row do not depend on how many rows there are.
   */
  matmulQuantized: {
    args: {
      type: 'type',
      x: 'buffer', // quantizeRows output (m, k)
      matrix: 'buffer', // (n, k)
      bias: 'optional-buffer', // f32 (n)
      out: 'buffer', // f32 (m, n)
      m: 'integer',
      n: 'integer',
      k: 'integer',
      accumulate: 'integer', // 1: add to what `out` holds
    },
    work: { over: 'n', per: 8, together: 20 },
    tolerance: F32_REDUCTION,
  },
  /** Linear layer in float32 on a matrix of type F32, F16 or BF16; bits of rows as in `matmulQuantized`. */
  matmulFloat: {
    args: {
      type: 'type',
      x: 'buffer', // f32 (m, k)
      matrix: 'buffer', // (n, k)
      bias: 'optional-buffer', // f32 (n)
      out: 'buffer', // f32 (m, n)
      m: 'integer',
      n: 'integer',
      k: 'integer',
      accumulate: 'integer',
    },
    work: { over: 'n', per: 8 },
    tolerance: F32_REDUCTION,
  },
  /** `out = x / sqrt(mean(x²) + epsilon) * weight`, per row. `out` may be `x`. */
  rmsNorm: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      weight: 'buffer', // f32 (columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
      epsilon: 'float',
    },
    work: { over: 'rows', per: 1 },
    tolerance: F32_REDUCTION,
  },
  /** `out = (x - mean) / sqrt(variance + epsilon) * weight + bias`, per row. `out` may be `x`. */
  layerNorm: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      weight: 'buffer', // f32 (columns)
      bias: 'buffer', // f32 (columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
      epsilon: 'float',
    },
    work: { over: 'rows', per: 1 },
    tolerance: F32_REDUCTION,
  },
  /** Rotary position embedding in place, of the first `rotaryDim` elements of each head. Row r turns by row r of the tables. */
  rope: {
    args: {
      x: 'buffer', // f32 (rows, heads, headDim)
      table: 'buffer', // f32 (rows, 2, rotaryDim / 2): cosines, then sines
      rows: 'integer',
      heads: 'integer',
      headDim: 'integer',
      rotaryDim: 'integer', // even, at most headDim
      pairing: 'integer', // ROPE_PAIRINGS
    },
    work: { over: 'rows', per: 1 },
    tolerance: F32_POINTWISE,
  },
  /**
   * float32 rows into a cache of keys or values, where each head's rows lie together: row r of head h becomes row
   * `h * headStride + r` of `out`. F16 rounds to nearest even; Q8_0 is laid out as `cache-rows.ts` says.
   */
  storeRows: {
    args: {
      type: 'type', // F32, F16 or Q8_0
      x: 'buffer', // f32 (rows, heads, headDim)
      out: 'buffer', // type (heads, headStride, headDim), of which `rows` from the first on are written
      rows: 'integer',
      heads: 'integer',
      headDim: 'integer', // for Q8_0 a multiple of 4
      headStride: 'integer', // at least `rows`
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /**
   * Scaled dot-product attention with grouped heads and an online softmax, so that no (queries, keys) matrix
   * exists. Causal: query i sees keys 0 .. firstPosition + i. Otherwise all keys. The key of position p and head h is
   * row `p * positionStride + h * headStride` of `k`, and so for values.
   *
   * The bits of a query's result do not depend on how many others there are.
   */
  attention: {
    args: {
      type: 'type', // F32, F16 or Q8_0, of keys and values
      q: 'buffer', // f32 (queries, heads, headDim)
      k: 'buffer', // type, rows of headDim
      v: 'buffer', // type, rows of headDim
      out: 'buffer', // f32 (queries, heads, headDim)
      queries: 'integer',
      keys: 'integer',
      heads: 'integer',
      kvHeads: 'integer',
      headDim: 'integer',
      positionStride: 'integer', // in rows
      headStride: 'integer', // in rows
      scale: 'float',
      causal: 'integer', // 0 or 1
      firstPosition: 'integer', // position of query 0 among the keys
    },
    work: { over: ['kvHeads', 'queries'], per: 128 },
    tolerance: 2e-5,
  },
  /** SwiGLU: `out = silu(gate) * up`. `out` may be `gate`. */
  siluMul: {
    args: {
      gate: 'buffer', // f32 (rows, columns)
      up: 'buffer', // f32 (rows, columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 2e-6,
  },
  /** An activation function in place. */
  activate: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      kind: 'integer', // ACTIVATIONS
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 2e-6,
  },
  /** `x = x < 0 ? slope * x : x` in place. */
  leakyRelu: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
      slope: 'float',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /** `x += y`. */
  addRows: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      y: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /** Copies rows of 32-bit words. */
  copyRows: {
    args: {
      source: 'buffer', // (rows, columns)
      out: 'buffer', // (rows, columns)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /** Exclusive or of each row's 32-bit words: reads every byte and does next to nothing, to measure how fast that goes. */
  xorRows: {
    args: {
      x: 'buffer', // (rows, columns)
      out: 'buffer', // i32 (rows)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
  /**
   * Windows of a convolution over time, each as one row: row r holds rows (firstRow + r) * stride - padding + tap * dilation
   * of x for every tap, zeros where x has none. Conv1d is this and a linear layer with weights (out, kernel * columns).
   */
  unfoldRows: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      out: 'buffer', // f32 (outRows, kernel, columns)
      rows: 'integer',
      columns: 'integer',
      outRows: 'integer',
      kernel: 'integer',
      stride: 'integer',
      dilation: 'integer',
      padding: 'integer', // zeros before x
      firstRow: 'integer', // of the output, so that long inputs go in pieces
    },
    work: { over: 'outRows', per: 1 },
    tolerance: 0,
  },
  /**
   * The opposite: adds up overlapping windows. Row r of out is bias + the sum of x[i - firstInput, tap] over all i, tap with
   * i * stride + tap = firstRow + r + padding. A transposed convolution is a linear layer with weights
   * (kernel * columns, in) and this.
   */
  foldRows: {
    args: {
      x: 'buffer', // f32 (rows, kernel, columns)
      bias: 'optional-buffer', // f32 (columns)
      out: 'buffer', // f32 (outRows, columns)
      rows: 'integer',
      columns: 'integer',
      outRows: 'integer',
      kernel: 'integer',
      stride: 'integer',
      padding: 'integer', // rows cut off before the output
      firstRow: 'integer', // of the output
      firstInput: 'integer', // which input row the first row of x is
    },
    work: { over: 'outRows', per: 1 },
    tolerance: 0,
  },
  /** A convolution over time whose channels do not mix: stride 1, as many rows as x has, zeros around it. */
  depthwiseConv: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      weight: 'buffer', // f32 (kernel, columns)
      bias: 'optional-buffer', // f32 (columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
      kernel: 'integer',
      dilation: 'integer',
      padding: 'integer', // zeros before x
    },
    work: { over: 'rows', per: 1 },
    tolerance: F32_REDUCTION,
  },
  /** WaveNet's gate: `out = tanh(first half of the row) * sigmoid(second half)`. */
  tanhSigmoidMul: {
    args: {
      x: 'buffer', // f32 (rows, 2 * columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 2e-6,
  },
  /** Normalises each group of neighbouring columns over all rows, then `* weight + bias` per column. */
  groupNorm: {
    args: {
      x: 'buffer', // f32 (rows, columns)
      weight: 'buffer', // f32 (columns)
      bias: 'buffer', // f32 (columns)
      out: 'buffer', // f32 (rows, columns)
      rows: 'integer',
      columns: 'integer',
      groups: 'integer', // divides columns
      epsilon: 'float',
    },
    work: { over: 'groups', per: 1 },
    tolerance: F32_REDUCTION,
  },
  /** A step of an LSTM. `c = sigmoid(f) * c + sigmoid(i) * tanh(g)`, `h = sigmoid(o) * tanh(c)`. */
  lstmCell: {
    args: {
      gates: 'buffer', // f32 (rows, 4, hidden): i, f, g, o as in PyTorch
      state: 'buffer', // f32 (rows, 2, hidden): h, c; only c is read
      rows: 'integer',
      hidden: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 2e-6,
  },
  /**
   * Attention of a sequence to itself, without causal mask. With a window, query i sees key j where 0 <= i - j < left or
   * 0 < j - i < right; 0 and 0 is no window. With relative positions (VITS), keys at a distance of at most `reach` add
   * q · relativeKeys[j - i + reach] to the score before scaling, and weight * relativeValues[j - i + reach] to the result.
   */
  localAttention: {
    args: {
      q: 'buffer', // f32 (rows, heads, headDim)
      k: 'buffer', // f32 (rows, heads, headDim)
      v: 'buffer', // f32 (rows, heads, headDim)
      relativeKeys: 'optional-buffer', // f32 (2 * reach + 1, headDim)
      relativeValues: 'optional-buffer', // f32 (2 * reach + 1, headDim)
      out: 'buffer', // f32 (rows, heads, headDim)
      rows: 'integer',
      heads: 'integer',
      headDim: 'integer',
      scale: 'float',
      left: 'integer',
      right: 'integer',
      reach: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 2e-5,
  },
  /** Square patches of a planar picture as rows: (channel, y, x) inside a patch; patches row by row. Rests are cut off. */
  extractPatches: {
    args: {
      pixels: 'buffer', // f32 (channels, height, width)
      out: 'buffer', // f32 (patchRows * patchColumns, channels * patch * patch)
      channels: 'integer',
      height: 'integer',
      width: 'integer',
      patch: 'integer',
      patchRows: 'integer', // floor(height / patch)
    },
    work: { over: 'patchRows', per: 1 },
    tolerance: 0,
  },
  /** Space to depth: each factor x factor square of the grid becomes one row, its members concatenated row-major. */
  pixelShuffle: {
    args: {
      x: 'buffer', // f32 (gridRows * gridColumns, columns)
      out: 'buffer', // f32 (gridRows / factor * gridColumns / factor, factor * factor * columns)
      gridRows: 'integer',
      gridColumns: 'integer',
      columns: 'integer',
      factor: 'integer',
    },
    work: { over: 'gridRows', per: 1 },
    tolerance: 0,
  },
  /** Average pooling: each factor x factor square of the grid becomes one row, summed row-major in float32, then divided. */
  poolRows: {
    args: {
      x: 'buffer', // f32 (rows * factor * gridColumns, columns)
      out: 'buffer', // f32 (rows * gridColumns / factor, columns)
      rows: 'integer', // of the pooled grid
      gridColumns: 'integer', // of x
      columns: 'integer',
      factor: 'integer',
    },
    work: { over: 'rows', per: 1 },
    tolerance: 0,
  },
} as const satisfies Record<string, OpRow>

export type OpName = keyof typeof OPS

/** Bytes that `quantizeRows` writes. */
export function quantizedByteLength(rows: number, columns: number): number {
  const padded = Math.ceil(columns / 32) * 32
  return rows * (padded + (padded / 32) * 4 + (padded / 16) * 4)
}
