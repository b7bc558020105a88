/** What each operation asks of its arguments beyond their kind; `check-arguments.ts` applies it. */
import type { Backend, OpArguments } from './backend.ts'
import { type CacheType, cacheRowByteLength, isCacheType } from './cache-rows.ts'
import { rawRowByteLength } from './matrix-rows.ts'
import {
  ACTIVATIONS,
  isFloatMatrixType,
  type MatrixType,
  type OpName,
  quantizedByteLength,
  ROPE_PAIRINGS,
} from './ops.ts'

/** Bytes of a packed matrix, as `Backend.matrixByteLength`. */
export type MatrixByteLength = Backend['matrixByteLength']

/** A number for each argument that is a buffer. */
type BufferByteLengths<Args> = {
  readonly [Key in keyof Args as Args[Key] extends number | string ? never : Key]: number
}

export interface OpRules<Args> {
  /** The one buffer that the operation writes. */
  readonly writes: keyof Args & string
  /** Buffers that may be the very same place as the written one. */
  readonly inPlace?: readonly (keyof Args & string)[]
  /** Which types the operation takes. */
  readonly types?: (type: MatrixType) => boolean
  /** Bytes the operation touches in each buffer. */
  readonly byteLengths: (args: Args, matrixByteLength: MatrixByteLength) => BufferByteLengths<Args>
  /** Buffers of raw blocks, which may start at any byte; all others are 4-byte aligned. */
  readonly unaligned?: readonly (keyof Args & string)[]
  /** What else must hold; a sentence says what was expected when it does not. */
  readonly expects?: (args: Args) => string | undefined
  /** Integers that must not be 0 although the operation may have no rows. */
  readonly positive: readonly (keyof Args & string)[]
}

const isQuantized = (type: MatrixType): boolean => !isFloatMatrixType(type)
const isRowEncoding = (type: MatrixType): boolean => type === 'Q8_0' || type === 'Q4_0'

function storedBytes(type: MatrixType): number {
  return type === 'F32' ? 4 : 2
}

/** Bytes of a packed matrix. Refuses rows that break off inside a block, whatever the driver's layout. */
function packedByteLength(
  matrixByteLength: MatrixByteLength,
  type: MatrixType,
  rows: number,
  columns: number,
): number {
  rawRowByteLength(type, columns) // for its check
  return matrixByteLength(type, rows, columns)
}

function oneOf(name: string, value: number, allowed: readonly number[]): string | undefined {
  return allowed.includes(value) ? undefined : `"${name}" to be one of ${allowed.join(', ')}, found ${value}`
}

function multipleOf(name: string, value: number, factor: number): string | undefined {
  return value % factor === 0 ? undefined : `"${name}" to be a multiple of ${factor}, found ${value}`
}

export const OP_RULES: { readonly [Name in OpName]: OpRules<OpArguments<Name>> } = {
  packRows: {
    writes: 'matrix',
    positive: ['columns'],
    unaligned: ['source'],
    byteLengths: ({ type, rows, columns, firstRow }, matrixByteLength) => ({
      source: rows * rawRowByteLength(type, columns),
      matrix: packedByteLength(matrixByteLength, type, firstRow + rows, columns),
    }),
    expects: ({ firstRow }) => multipleOf('firstRow', firstRow, 8),
  },
  decodeRows: {
    writes: 'out',
    positive: ['columns'],
    types: isFloatMatrixType,
    unaligned: ['source'],
    byteLengths: ({ type, rows, columns }) => ({
      source: rows * columns * storedBytes(type),
      out: rows * columns * 4,
    }),
  },
  encodeRows: {
    writes: 'out',
    positive: ['columns'],
    types: isRowEncoding,
    unaligned: ['out'],
    byteLengths: ({ type, rows, columns }) => ({
      source: rows * columns * 4,
      out: rows * rawRowByteLength(type, columns),
    }),
  },
  gatherRows: {
    writes: 'out',
    positive: ['columns'],
    byteLengths: ({ type, count, columns }, matrixByteLength) => ({
      matrix: packedByteLength(matrixByteLength, type, 1, columns),
      ids: count * 4,
      out: count * columns * 4,
    }),
  },
  quantizeRows: {
    writes: 'out',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({
      x: rows * columns * 4,
      out: quantizedByteLength(rows, columns),
    }),
  },
  matmulQuantized: {
    writes: 'out',
    positive: ['k'],
    types: isQuantized,
    byteLengths: ({ type, m, n, k }, matrixByteLength) => ({
      x: quantizedByteLength(m, k),
      matrix: packedByteLength(matrixByteLength, type, n, k),
      bias: n * 4,
      out: m * n * 4,
    }),
    expects: ({ accumulate }) => oneOf('accumulate', accumulate, [0, 1]),
  },
  matmulFloat: {
    writes: 'out',
    positive: ['k'],
    types: isFloatMatrixType,
    byteLengths: ({ type, m, n, k }, matrixByteLength) => ({
      x: m * k * 4,
      matrix: packedByteLength(matrixByteLength, type, n, k),
      bias: n * 4,
      out: m * n * 4,
    }),
    expects: ({ accumulate }) => oneOf('accumulate', accumulate, [0, 1]),
  },
  rmsNorm: {
    writes: 'out',
    inPlace: ['x'],
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({
      x: rows * columns * 4,
      weight: columns * 4,
      out: rows * columns * 4,
    }),
  },
  layerNorm: {
    writes: 'out',
    inPlace: ['x'],
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({
      x: rows * columns * 4,
      weight: columns * 4,
      bias: columns * 4,
      out: rows * columns * 4,
    }),
  },
  rope: {
    writes: 'x',
    positive: ['heads', 'headDim'],
    byteLengths: ({ rows, heads, headDim, rotaryDim }) => ({
      x: rows * heads * headDim * 4,
      table: rows * rotaryDim * 4,
    }),
    expects: ({ headDim, rotaryDim, pairing }) =>
      multipleOf('rotaryDim', rotaryDim, 2) ??
      (rotaryDim > headDim ? `"rotaryDim" to be at most ${headDim}, found ${rotaryDim}` : undefined) ??
      oneOf('pairing', pairing, Object.values(ROPE_PAIRINGS)),
  },
  storeRows: {
    writes: 'out',
    positive: ['heads', 'headDim'],
    types: isCacheType,
    byteLengths: ({ type, rows, heads, headDim, headStride }) => ({
      x: rows * heads * headDim * 4,
      out:
        rows === 0 ? 0 : ((heads - 1) * headStride + rows) * cacheRowByteLength(type as CacheType, headDim),
    }),
    expects: ({ type, rows, headDim, headStride }) =>
      (type === 'Q8_0' ? multipleOf('headDim', headDim, 4) : undefined) ??
      (headStride < rows ? `"headStride" to be at least the ${rows} rows, found ${headStride}` : undefined),
  },
  attention: {
    writes: 'out',
    positive: ['keys', 'heads', 'kvHeads', 'headDim'],
    types: isCacheType,
    byteLengths: ({ type, queries, keys, heads, kvHeads, headDim, positionStride, headStride }) => {
      const rows = (keys - 1) * positionStride + (kvHeads - 1) * headStride + 1
      return {
        q: queries * heads * headDim * 4,
        k: rows * cacheRowByteLength(type as CacheType, headDim),
        v: rows * cacheRowByteLength(type as CacheType, headDim),
        out: queries * heads * headDim * 4,
      }
    },
    expects: ({ type, heads, kvHeads, headDim, causal }) =>
      multipleOf('heads', heads, kvHeads) ??
      (type === 'Q8_0' ? multipleOf('headDim', headDim, 4) : undefined) ??
      oneOf('causal', causal, [0, 1]),
  },
  siluMul: {
    writes: 'out',
    inPlace: ['gate'],
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({
      gate: rows * columns * 4,
      up: rows * columns * 4,
      out: rows * columns * 4,
    }),
  },
  activate: {
    writes: 'x',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ x: rows * columns * 4 }),
    expects: ({ kind }) => oneOf('kind', kind, Object.values(ACTIVATIONS)),
  },
  leakyRelu: {
    writes: 'x',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ x: rows * columns * 4 }),
  },
  addRows: {
    writes: 'x',
    inPlace: ['y'],
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ x: rows * columns * 4, y: rows * columns * 4 }),
  },
  copyRows: {
    writes: 'out',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ source: rows * columns * 4, out: rows * columns * 4 }),
  },
  xorRows: {
    writes: 'out',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ x: rows * columns * 4, out: rows * 4 }),
  },
  unfoldRows: {
    writes: 'out',
    positive: ['columns', 'kernel', 'stride', 'dilation'],
    byteLengths: ({ rows, columns, outRows, kernel }) => ({
      x: rows * columns * 4,
      out: outRows * kernel * columns * 4,
    }),
  },
  foldRows: {
    writes: 'out',
    positive: ['columns', 'kernel', 'stride'],
    byteLengths: ({ rows, columns, outRows, kernel }) => ({
      x: rows * kernel * columns * 4,
      bias: columns * 4,
      out: outRows * columns * 4,
    }),
  },
  depthwiseConv: {
    writes: 'out',
    positive: ['columns', 'kernel', 'dilation'],
    byteLengths: ({ rows, columns, kernel }) => ({
      x: rows * columns * 4,
      weight: kernel * columns * 4,
      bias: columns * 4,
      out: rows * columns * 4,
    }),
  },
  tanhSigmoidMul: {
    writes: 'out',
    positive: ['columns'],
    byteLengths: ({ rows, columns }) => ({ x: rows * 2 * columns * 4, out: rows * columns * 4 }),
  },
  groupNorm: {
    writes: 'out',
    inPlace: ['x'],
    positive: ['columns', 'groups'],
    byteLengths: ({ rows, columns }) => ({
      x: rows * columns * 4,
      weight: columns * 4,
      bias: columns * 4,
      out: rows * columns * 4,
    }),
    expects: ({ columns, groups }) => multipleOf('columns', columns, groups),
  },
  lstmCell: {
    writes: 'state',
    positive: ['hidden'],
    byteLengths: ({ rows, hidden }) => ({ gates: rows * 4 * hidden * 4, state: rows * 2 * hidden * 4 }),
  },
  localAttention: {
    writes: 'out',
    positive: ['heads', 'headDim'],
    byteLengths: ({ rows, heads, headDim, reach }) => ({
      q: rows * heads * headDim * 4,
      k: rows * heads * headDim * 4,
      v: rows * heads * headDim * 4,
      relativeKeys: (2 * reach + 1) * headDim * 4,
      relativeValues: (2 * reach + 1) * headDim * 4,
      out: rows * heads * headDim * 4,
    }),
  },
  extractPatches: {
    writes: 'out',
    positive: ['channels', 'height', 'width', 'patch'],
    byteLengths: ({ channels, height, width, patch, patchRows }) => ({
      pixels: channels * height * width * 4,
      out: patchRows * Math.floor(width / patch) * channels * patch * patch * 4,
    }),
    expects: ({ height, patch, patchRows }) => oneOf('patchRows', patchRows, [Math.floor(height / patch)]),
  },
  pixelShuffle: {
    writes: 'out',
    positive: ['columns', 'factor'],
    byteLengths: ({ gridRows, gridColumns, columns }) => ({
      x: gridRows * gridColumns * columns * 4,
      out: gridRows * gridColumns * columns * 4,
    }),
    expects: ({ gridRows, gridColumns, factor }) =>
      multipleOf('gridRows', gridRows, factor) ?? multipleOf('gridColumns', gridColumns, factor),
  },
  poolRows: {
    writes: 'out',
    positive: ['columns', 'factor'],
    byteLengths: ({ rows, gridColumns, columns, factor }) => ({
      x: rows * factor * gridColumns * columns * 4,
      out: rows * (gridColumns / factor) * columns * 4,
    }),
    expects: ({ gridColumns, factor }) => multipleOf('gridColumns', gridColumns, factor),
  },
}
