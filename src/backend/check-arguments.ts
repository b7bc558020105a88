/**
 * The checks that every driver makes when an operation is enqueued, so that a wrong call fails there, by name,
 * and never reads or writes outside a buffer. What buffers hold (ids, for example) is not looked at.
 */
import { EngineError } from '../shared/errors.ts'
import type { Backend, BufferRef, OpArguments } from './backend.ts'
import { rawRowByteLength } from './matrix-rows.ts'
import {
  ACTIVATIONS,
  isFloatMatrixType,
  isMatrixType,
  type MatrixType,
  OPS,
  type OpName,
  quantizedByteLength,
  ROPE_PAIRINGS,
} from './ops.ts'

/** Kernels take 32-bit signed integers. */
const MAX_INTEGER = 2 ** 31 - 1

/** Bytes of a packed matrix, as `Backend.matrixByteLength`. */
type MatrixByteLength = Backend['matrixByteLength']

interface OpRules<Args> {
  /** The one buffer that the operation writes. */
  readonly writes: keyof Args & string
  /** Buffers that may be the very same place as the written one. */
  readonly inPlace?: readonly (keyof Args & string)[]
  /** Which types the operation takes. */
  readonly types?: (type: MatrixType) => boolean
  /** Bytes the operation touches in each buffer. */
  readonly byteLengths: (
    args: Args,
    matrixByteLength: MatrixByteLength,
  ) => Partial<Record<keyof Args, number>>
  /** Buffers of raw blocks, which may start at any byte; all others are 4-byte aligned. */
  readonly unaligned?: readonly (keyof Args & string)[]
  /** What else must hold; a sentence says what was expected when it does not. */
  readonly expects?: (args: Args) => string | undefined
  /** Integers that must not be 0 although the operation may have no rows. */
  readonly positive: readonly (keyof Args & string)[]
}

const isStoredFloat = (type: MatrixType): boolean => type === 'F32' || type === 'F16'
const isQuantized = (type: MatrixType): boolean => !isFloatMatrixType(type)
const isRowEncoding = (type: MatrixType): boolean => type === 'Q8_0' || type === 'Q4_0'

function storedBytes(type: MatrixType): number {
  return type === 'F32' ? 4 : 2
}

function oneOf(name: string, value: number, allowed: readonly number[]): string | undefined {
  return allowed.includes(value) ? undefined : `"${name}" to be one of ${allowed.join(', ')}, found ${value}`
}

function multipleOf(name: string, value: number, factor: number): string | undefined {
  return value % factor === 0 ? undefined : `"${name}" to be a multiple of ${factor}, found ${value}`
}

const RULES: { readonly [Name in OpName]: OpRules<OpArguments<Name>> } = {
  packRows: {
    writes: 'matrix',
    positive: ['columns'],
    unaligned: ['source'],
    byteLengths: ({ type, rows, columns, firstRow }, matrixByteLength) => ({
      source: rows * rawRowByteLength(type, columns),
      matrix: matrixByteLength(type, firstRow + rows, columns),
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
      matrix: matrixByteLength(type, 1, columns),
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
      matrix: matrixByteLength(type, n, k),
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
      matrix: matrixByteLength(type, n, k),
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
    byteLengths: ({ rows, heads, headDim }) => ({
      x: rows * heads * headDim * 4,
      table: rows * headDim * 4,
    }),
    expects: ({ headDim, pairing }) =>
      multipleOf('headDim', headDim, 2) ?? oneOf('pairing', pairing, Object.values(ROPE_PAIRINGS)),
  },
  storeRows: {
    writes: 'out',
    positive: ['columns'],
    types: isStoredFloat,
    byteLengths: ({ type, rows, columns }) => ({
      x: rows * columns * 4,
      out: rows * columns * storedBytes(type),
    }),
  },
  attention: {
    writes: 'out',
    positive: ['keys', 'heads', 'kvHeads', 'headDim'],
    types: isStoredFloat,
    byteLengths: ({ type, queries, keys, heads, kvHeads, headDim }) => ({
      q: queries * heads * headDim * 4,
      k: keys * kvHeads * headDim * storedBytes(type),
      v: keys * kvHeads * headDim * storedBytes(type),
      out: queries * heads * headDim * 4,
    }),
    expects: ({ heads, kvHeads, causal }) =>
      multipleOf('heads', heads, kvHeads) ?? oneOf('causal', causal, [0, 1]),
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
}

/**
 * Checks the arguments of one call: present, of the right kind and range, inside their buffers, aligned, and
 * the written range overlapping no other one except where the operation works in place.
 *
 * @param matrixByteLength The driver's own, since packed layouts differ.
 * @throws EngineError `backend/bad-argument`, `backend/out-of-bounds` or `backend/overlap`, naming the operation
 *   and the argument.
 */
export function checkArguments<Name extends OpName>(
  op: Name,
  args: OpArguments<Name>,
  matrixByteLength: MatrixByteLength,
): void {
  if (!Object.hasOwn(OPS, op)) throw badArgument(String(op), `expected one of ${Object.keys(OPS).join(', ')}`)
  const rules: OpRules<OpArguments<Name>> = RULES[op]
  const values = args as Readonly<Record<string, unknown>>
  for (const [name, kind] of Object.entries(OPS[op].args)) {
    const problem = kindProblem(kind, values[name], rules.types)
    if (problem !== undefined) throw badArgument(op, `expected "${name}" to be ${problem}`)
  }
  for (const name of rules.positive) {
    if (values[name] === 0) throw badArgument(op, `expected "${name}" to be at least 1, found 0`)
  }
  const unmet = rules.expects?.(args)
  if (unmet !== undefined) throw badArgument(op, `expected ${unmet}`)

  const byteLengths = Object.entries<number | undefined>(rules.byteLengths(args, matrixByteLength))
  const written = values[rules.writes] as BufferRef
  const writtenLength = byteLengths.find(([name]) => name === rules.writes)?.[1] ?? 0
  for (const [name, byteLength = 0] of byteLengths) {
    const ref = values[name] as BufferRef | undefined
    if (ref === undefined) continue
    checkRange(`${op}: "${name}"`, ref, byteLength)
    if (ref.byteOffset % 4 !== 0 && !rules.unaligned?.some((unaligned) => unaligned === name)) {
      throw badArgument(op, `expected "${name}" to start at a multiple of 4 bytes, found ${ref.byteOffset}`)
    }
    if (name === rules.writes || ref.buffer !== written.buffer) continue
    const inPlace = ref.byteOffset === written.byteOffset && rules.inPlace?.some((other) => other === name)
    const apart =
      ref.byteOffset + byteLength <= written.byteOffset ||
      written.byteOffset + writtenLength <= ref.byteOffset
    if (!inPlace && !apart) {
      throw new EngineError('backend/overlap', {
        message:
          `${op}: "${rules.writes}" (bytes ${written.byteOffset} to ${written.byteOffset + writtenLength}) overlaps ` +
          `"${name}" (bytes ${ref.byteOffset} to ${ref.byteOffset + byteLength}) of the same buffer.`,
        hint: 'Give the result a place of its own.',
      })
    }
  }
}

/**
 * Checks that `byteLength` bytes from `ref` on lie inside its buffer.
 *
 * @param what How the message names the range, for example `write: target`.
 * @throws EngineError `backend/out-of-bounds`.
 */
export function checkRange(what: string, ref: BufferRef, byteLength: number): void {
  const end = ref.byteOffset + byteLength
  if (!(Number.isSafeInteger(byteLength) && byteLength >= 0 && end <= ref.buffer.byteLength)) {
    throw new EngineError('backend/out-of-bounds', {
      message: `${what} takes ${byteLength} bytes from byte ${ref.byteOffset} on, but its buffer has ${ref.buffer.byteLength} bytes.`,
    })
  }
}

function kindProblem(
  kind: string,
  value: unknown,
  types: ((type: MatrixType) => boolean) | undefined,
): string | undefined {
  switch (kind) {
    case 'integer':
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_INTEGER
        ? undefined
        : `an integer from 0 to ${MAX_INTEGER}, found ${String(value)}`
    case 'float':
      return Number.isFinite(value) ? undefined : `a finite number, found ${String(value)}`
    case 'type':
      if (typeof value !== 'string' || !isMatrixType(value)) return `a matrix type, found ${String(value)}`
      return types === undefined || types(value) ? undefined : `a type this operation takes, found ${value}`
    case 'optional-buffer':
      return value === undefined || isBufferRef(value) ? undefined : describeNonBuffer(value)
    default:
      return isBufferRef(value) ? undefined : describeNonBuffer(value)
  }
}

function describeNonBuffer(value: unknown): string {
  return `a place in a device buffer, found ${value === null ? 'null' : typeof value}`
}

function isBufferRef(value: unknown): value is BufferRef {
  if (typeof value !== 'object' || value === null) return false
  const { buffer, byteOffset } = value as { buffer?: unknown; byteOffset?: unknown }
  return (
    typeof buffer === 'object' &&
    buffer !== null &&
    Number.isInteger(byteOffset) &&
    (byteOffset as number) >= 0
  )
}

function badArgument(op: string, expectation: string): EngineError {
  return new EngineError('backend/bad-argument', { message: `${op}: ${expectation}.` })
}
