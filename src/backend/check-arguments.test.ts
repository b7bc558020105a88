import { expect, test } from 'vitest'
import type { BufferRef, DeviceBuffer } from './backend.ts'
import { checkArguments } from './check-arguments.ts'
import { rawRowByteLength } from './matrix-rows.ts'
import { type MatrixType, OPS, type OpName } from './ops.ts'

function bufferOf(byteLength: number): DeviceBuffer {
  const buffer: DeviceBuffer = {
    byteLength,
    byteOffset: 0,
    get buffer() {
      return buffer
    },
    at: (byteOffset) => ({ buffer, byteOffset }),
  }
  return buffer
}

const matrixByteLength = (type: MatrixType, rows: number, columns: number): number =>
  rows * rawRowByteLength(type, columns)

/** A right call of every operation, with each buffer exactly as large as it must be. */
const RIGHT: Readonly<Record<OpName, Readonly<Record<string, number | string>>>> = {
  packRows: { type: 'Q4_K', source: 2880, matrix: 5184, rows: 10, columns: 512, firstRow: 8 },
  decodeRows: { type: 'F16', source: 30, out: 60, rows: 3, columns: 5 },
  encodeRows: { type: 'Q8_0', source: 396, out: 204, rows: 3, columns: 33 },
  gatherRows: { type: 'Q4_0', matrix: 36, ids: 12, out: 396, count: 3, columns: 33 },
  quantizeRows: { x: 264, out: 176, rows: 2, columns: 33 },
  matmulQuantized: { type: 'Q8_0', x: 176, matrix: 340, bias: 20, out: 40, m: 2, n: 5, k: 33, accumulate: 0 },
  matmulFloat: { type: 'BF16', x: 24, matrix: 30, bias: 20, out: 40, m: 2, n: 5, k: 3, accumulate: 1 },
  rmsNorm: { x: 24, weight: 12, out: 24, rows: 2, columns: 3, epsilon: 1e-5 },
  layerNorm: { x: 24, weight: 12, bias: 12, out: 24, rows: 2, columns: 3, epsilon: 0 },
  rope: { x: 192, table: 64, rows: 2, heads: 3, headDim: 8, rotaryDim: 8, pairing: 1 },
  storeRows: { type: 'F16', x: 48, out: 30, rows: 2, heads: 2, headDim: 3, headStride: 3 },
  attention: {
    ...{
      type: 'Q8_0',
      q: 192,
      k: 88,
      v: 88,
      out: 192,
      queries: 3,
      keys: 5,
      heads: 4,
      kvHeads: 2,
      headDim: 4,
    },
    ...{ positionStride: 1, headStride: 6 },
    ...{ scale: 0.5, causal: 1, firstPosition: 2 },
  },
  siluMul: { gate: 24, up: 24, out: 24, rows: 2, columns: 3 },
  activate: { x: 24, kind: 2, rows: 2, columns: 3 },
  addRows: { x: 24, y: 24, rows: 2, columns: 3 },
  copyRows: { source: 24, out: 24, rows: 2, columns: 3 },
  xorRows: { x: 24, out: 8, rows: 2, columns: 3 },
  leakyRelu: { x: 24, rows: 2, columns: 3, slope: 0.1 },
  unfoldRows: {
    ...{ x: 60, out: 96, rows: 5, columns: 3, outRows: 4, kernel: 2, stride: 1, dilation: 1, padding: 1 },
    firstRow: 0,
  },
  foldRows: {
    ...{ x: 72, bias: 12, out: 48, rows: 3, columns: 3, outRows: 4, kernel: 2, stride: 1, padding: 0 },
    ...{ firstRow: 0, firstInput: 0 },
  },
  depthwiseConv: {
    ...{ x: 60, weight: 24, bias: 12, out: 60, rows: 5, columns: 3, kernel: 2, dilation: 1, padding: 1 },
  },
  tanhSigmoidMul: { x: 48, out: 24, rows: 2, columns: 3 },
  groupNorm: { x: 48, weight: 24, bias: 24, out: 48, rows: 2, columns: 6, groups: 2, epsilon: 1e-5 },
  lstmCell: { gates: 96, state: 48, rows: 2, hidden: 3 },
  localAttention: {
    ...{ q: 96, k: 96, v: 96, relativeKeys: 36, relativeValues: 36, out: 96, rows: 4, heads: 2, headDim: 3 },
    ...{ scale: 0.5, left: 2, right: 1, reach: 1 },
  },
  extractPatches: { pixels: 140, out: 96, channels: 1, height: 5, width: 7, patch: 2, patchRows: 2 },
  pixelShuffle: { x: 96, out: 96, gridRows: 4, gridColumns: 2, columns: 3, factor: 2 },
  poolRows: { x: 96, out: 24, rows: 2, gridColumns: 2, columns: 3, factor: 2 },
}

const NAMES = Object.keys(OPS) as OpName[]

function kindsOf(op: OpName): Readonly<Record<string, string>> {
  return OPS[op].args
}

function isBuffer(kind: string | undefined): boolean {
  return kind === 'buffer' || kind === 'optional-buffer'
}

/** The right call with some arguments changed; numbers for buffers become buffers of that many bytes. */
function check(op: OpName, changes: Readonly<Record<string, unknown>> = {}): void {
  const args = Object.entries({ ...RIGHT[op], ...changes }).map(([name, value]) => [
    name,
    isBuffer(kindsOf(op)[name]) && typeof value === 'number' ? bufferOf(value) : value,
  ])
  checkArguments(op, Object.fromEntries(args) as never, matrixByteLength)
}

/** Code and message of what `action` throws. */
function failure(action: () => void): string {
  try {
    action()
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
  return 'nothing thrown'
}

test.each(NAMES)('%s: a right call passes, and a buffer one byte shorter is named', (op) => {
  check(op)
  for (const [name, kind] of Object.entries(kindsOf(op))) {
    if (!isBuffer(kind)) continue
    const byteLength = RIGHT[op][name] as number
    expect(failure(() => check(op, { [name]: byteLength - 1 }))).toBe(
      `backend/out-of-bounds: ${op}: "${name}" takes ${byteLength} bytes from byte 0 on, but its buffer has ${byteLength - 1} bytes.`,
    )
  }
})

test.each(NAMES)('%s: every argument is asked for, and a wrong kind is named', (op) => {
  for (const [name, kind] of Object.entries(kindsOf(op))) {
    const start = `backend/bad-argument: ${op}: expected "${name}" to be `
    const wrong: readonly unknown[] =
      kind === 'integer'
        ? [undefined, -1, 0.5, Number.NaN, 2 ** 31, '1']
        : kind === 'float'
          ? [undefined, Number.NaN, Number.POSITIVE_INFINITY, '1']
          : kind === 'type'
            ? [undefined, 'Q9_9', 12]
            : kind === 'buffer'
              ? [undefined, null, {}, { buffer: null, byteOffset: 0 }, { ...bufferOf(8), byteOffset: -4 }]
              : [null, {}]
    for (const value of wrong) {
      expect(failure(() => check(op, { [name]: value })).slice(0, start.length)).toBe(start)
    }
  }
})

test('a bias may be absent', () => {
  check('matmulFloat', { bias: undefined })
})

test.each([
  ['matmulQuantized', { type: 'F16' }, 'expected "type" to be a type this operation takes, found F16'],
  ['matmulFloat', { type: 'Q8_0' }, 'expected "type" to be a type this operation takes, found Q8_0'],
  ['encodeRows', { type: 'Q5_0' }, 'expected "type" to be a type this operation takes, found Q5_0'],
  ['storeRows', { type: 'BF16' }, 'expected "type" to be a type this operation takes, found BF16'],
  ['storeRows', { type: 'Q8_0' }, 'expected "headDim" to be a multiple of 4, found 3'],
  ['storeRows', { headStride: 1 }, 'expected "headStride" to be at least the 2 rows, found 1'],
  ['attention', { headDim: 6 }, 'expected "headDim" to be a multiple of 4, found 6'],
  ['attention', { type: 'BF16' }, 'expected "type" to be a type this operation takes, found BF16'],
  ['attention', { kvHeads: 3 }, 'expected "heads" to be a multiple of 3, found 4'],
  ['attention', { keys: 0 }, 'expected "keys" to be at least 1, found 0'],
  ['attention', { causal: 2 }, 'expected "causal" to be one of 0, 1, found 2'],
  ['rope', { rotaryDim: 7 }, 'expected "rotaryDim" to be a multiple of 2, found 7'],
  ['rope', { rotaryDim: 10 }, 'expected "rotaryDim" to be at most 8, found 10'],
  ['groupNorm', { groups: 4 }, 'expected "columns" to be a multiple of 4, found 6'],
  ['rope', { pairing: 2 }, 'expected "pairing" to be one of 0, 1, found 2'],
  ['activate', { kind: 7 }, 'expected "kind" to be one of 0, 1, 2, 3, 4, 5, 6, found 7'],
  ['matmulFloat', { accumulate: 2 }, 'expected "accumulate" to be one of 0, 1, found 2'],
  ['packRows', { firstRow: 4 }, 'expected "firstRow" to be a multiple of 8, found 4'],
  ['pixelShuffle', { factor: 3 }, 'expected "gridRows" to be a multiple of 3, found 4'],
  ['poolRows', { factor: 3 }, 'expected "gridColumns" to be a multiple of 3, found 2'],
  ['extractPatches', { patchRows: 3 }, 'expected "patchRows" to be one of 2, found 3'],
] as const)('%s with %o is refused', (op, changes, expected) => {
  expect(failure(() => check(op, changes))).toBe(`backend/bad-argument: ${op}: ${expected}.`)
})

test.each([
  ['packRows', { columns: 300 }],
  ['gatherRows', { type: 'Q4_K', columns: 300 }],
  ['matmulQuantized', { type: 'Q4_K', k: 300 }],
] as const)('%s: rows of K-quants must be whole blocks, whatever the layout', (op, changes) => {
  const args = { ...RIGHT[op], ...changes, source: bufferOf(8), matrix: bufferOf(8), ids: bufferOf(8) }
  const buffers = { x: bufferOf(8), bias: undefined, out: bufferOf(8) }
  expect(failure(() => checkArguments(op, { ...args, ...buffers } as never, () => 0))).toBe(
    'backend/partial-block: A Q4_K row holds blocks of 256; expected columns to be a multiple of that, found 300.',
  )
})

test('floats must be aligned to 4 bytes, blocks need not be', () => {
  expect(failure(() => check('activate', { x: bufferOf(64).at(2) }))).toBe(
    'backend/bad-argument: activate: expected "x" to start at a multiple of 4 bytes, found 2.',
  )
  check('packRows', { source: bufferOf(4000).at(3) })
})

test('the written range overlaps no other, except in place', () => {
  const buffer = bufferOf(96)
  const place = (byteOffset: number): BufferRef => buffer.at(byteOffset)
  check('rmsNorm', { x: place(0), out: place(0) })
  check('rmsNorm', { x: place(0), out: place(24) })
  check('rmsNorm', { x: place(24), out: place(0) })
  expect(failure(() => check('rmsNorm', { x: place(0), out: place(20) }))).toBe(
    'backend/overlap: rmsNorm: "out" (bytes 20 to 44) overlaps "x" (bytes 0 to 24) of the same buffer.',
  )
  expect(failure(() => check('copyRows', { source: place(0), out: place(0) }))).toBe(
    'backend/overlap: copyRows: "out" (bytes 0 to 24) overlaps "source" (bytes 0 to 24) of the same buffer.',
  )
})
