/** Packing, look-up, decoding, encoding and storing of rows. */
import { decodeBlocks } from '../../quant/decode.ts'
import { halfToFloat } from '../../quant/half.ts'
import { TENSOR_TYPES } from '../../quant/tensor-types.ts'
import type { Backend } from '../backend.ts'
import { CACHE_TYPES, cacheRowByteLength } from '../cache-rows.ts'
import { rawRowByteLength } from '../matrix-rows.ts'
import { MATRIX_TYPES, type MatrixType, OPS, quantizedByteLength } from '../ops.ts'
import { quantizedRowsIn } from '../reference/quantize-rows.ts'
import {
  type ConformanceCase,
  defineCase,
  guard,
  inPieces,
  input,
  mapResult,
  output,
  type PackedRows,
  packMatrix,
  readGuarded,
} from './op-case.case.ts'
import { bytesOf, type Character, createRandom, randomFloats, randomMatrix, seedOf } from './random.case.ts'

export const ALL_TYPES = Object.keys(MATRIX_TYPES) as MatrixType[]

/** Row lengths that exercise a type: whole blocks, many blocks, and where allowed a part of one. */
function columnsOf(type: MatrixType): readonly number[] {
  const { blockLength } = TENSOR_TYPES[type]
  if (blockLength === 256) return [256, 768]
  if (blockLength === 1) return [1, 33, 72, 96]
  return type === 'Q8_0' || type === 'Q4_0' ? [32, 72, 96, 1152] : [32, 96, 1152]
}

/** All rows of a packed matrix, read back through `gatherRows`. */
async function gatherAll(backend: Backend, packed: PackedRows): Promise<Uint8Array> {
  const { type, rows, columns } = packed
  const matrix = await packMatrix(backend, packed)
  const ids = guard(backend, bytesOf(Int32Array.from({ length: rows }, (_, row) => row)), 0)
  const out = guard(backend, new Uint8Array(rows * columns * 4).fill(0xff), 4)
  backend.enqueue('gatherRows', {
    type,
    matrix: matrix.ref,
    ids: ids.ref,
    out: out.ref,
    count: rows,
    columns,
  })
  const found = await readGuarded(backend, 'gatherRows: "out"', out)
  await readGuarded(backend, 'packRows: "matrix"', matrix)
  for (const { allocation } of [matrix, ids, out]) backend.free(allocation)
  return found
}

/** The layout is the driver's own, so what counts is that all rows come back, however many calls packed them. */
function packCase(
  type: MatrixType,
  columns: number,
  pieces: readonly number[],
  content: 'encoded' | 'blocks',
): ConformanceCase {
  const rows = pieces.reduce((sum, piece) => sum + piece, 0)
  const title = `packRows type=${type} columns=${columns} rows in pieces of ${pieces.join(' + ')}, ${content}`
  return {
    op: 'packRows',
    title,
    format: 'f32',
    tolerance: OPS.gatherRows.tolerance,
    prepare() {
      const raw = randomMatrix(createRandom(seedOf(title)), type, rows, columns, content)
      return (backend) => gatherAll(backend, { type, raw, rows, columns, pieces })
    },
  }
}

/** What `encodeRows` writes can be packed, also where rows end inside a block. */
function encodeThenPackCase(type: 'Q8_0' | 'Q4_0'): ConformanceCase {
  const [rows, columns] = [13, 72]
  const title = `packRows type=${type} columns=${columns} rows=${rows} of blocks that encodeRows made`
  return {
    op: 'packRows',
    title,
    format: 'f32',
    tolerance: OPS.gatherRows.tolerance,
    prepare() {
      const values = randomFloats(createRandom(seedOf(title)), rows * columns)
      return async (backend) => {
        const source = guard(backend, bytesOf(values), 4)
        const blocks = backend.alloc(rows * rawRowByteLength(type, columns))
        backend.enqueue('encodeRows', { type, source: source.ref, out: blocks, rows, columns })
        const raw = await backend.read(blocks, blocks.byteLength)
        for (const buffer of [source.allocation, blocks]) backend.free(buffer)
        return gatherAll(backend, { type, raw, rows, columns, pieces: inPieces(rows) })
      }
    },
  }
}

function packCases(): ConformanceCase[] {
  return ALL_TYPES.flatMap((type) =>
    columnsOf(type).flatMap((columns) => [
      packCase(type, columns, [1], 'encoded'),
      packCase(type, columns, [13], 'blocks'),
      packCase(type, columns, [8, 16, 7], 'blocks'),
    ]),
  )
}

function gatherCases(): ConformanceCase[] {
  return ALL_TYPES.flatMap((type) =>
    columnsOf(type).flatMap((columns) =>
      [1, 5, 9].map((count) =>
        defineCase('gatherRows', {
          scalars: { type, count, columns },
          data: 'of 21 rows, repeats',
          contents: (random) => ({
            matrix: {
              kind: 'matrix',
              rows: {
                type,
                raw: randomMatrix(random, type, 21, columns, count === 5 ? 'blocks' : 'encoded'),
                rows: 21,
                columns,
                pieces: inPieces(21),
              },
            },
            ids: input(
              bytesOf(Int32Array.from({ length: count }, (_, i) => [20, 0, 7, 7, random.below(21)][i % 5]!)),
            ),
            out: output(count * columns * 4),
          }),
        }),
      ),
    ),
  )
}

function decodeCases(): ConformanceCase[] {
  const shapes = [
    [1, 1],
    [3, 5],
    [2, 33],
    [7, 72],
    [4, 961],
  ] as const
  const random = (['F32', 'F16', 'BF16'] as const).flatMap((type) =>
    shapes.map(([rows, columns]) =>
      defineCase('decodeRows', {
        scalars: { type, rows, columns },
        data: 'normal',
        contents: (generator) => ({
          source: input(randomMatrix(generator, type, rows, columns)),
          out: output(rows * columns * 4),
        }),
      }),
    ),
  )
  const everyPattern = (['F16', 'BF16'] as const).map((type) =>
    defineCase('decodeRows', {
      scalars: { type, rows: 256, columns: 256 },
      data: 'every bit pattern',
      contents: () => ({
        source: input(new Uint8Array(Uint16Array.from({ length: 65536 }, (_, bits) => bits).buffer)),
        out: output(65536 * 4),
      }),
    }),
  )
  return [...random, ...everyPattern]
}

function encodeCases(): ConformanceCase[] {
  const shapes: readonly (readonly [number, number, Character])[] = [
    [1, 32, 'normal'],
    [3, 1, 'normal'],
    [2, 33, 'normal'],
    [5, 72, 'wide'],
    [9, 960, 'normal'],
    [2, 64, 'small'],
    [2, 64, 'half-limit'],
    [3, 320, 'ties'],
  ]
  const vanishing: readonly (readonly [number, number, Character])[] = [
    [2, 96, 'zeros'],
    [2, 72, 'denormals'],
  ]
  return (['Q8_0', 'Q4_0'] as const).flatMap((type) => {
    const encodeCase = ([rows, columns, character]: readonly [number, number, Character]): ConformanceCase =>
      defineCase('encodeRows', {
        scalars: { type, rows, columns },
        data: character,
        format: 'bytes',
        contents: (random) => ({
          source: input(bytesOf(randomFloats(random, rows * columns, character))),
          out: output(rows * rawRowByteLength(type, columns)),
        }),
      })
    // ggml leaves codes open where the scale is zero or its inverse overflows, so only the values must be zero.
    const decoded = (bytes: Uint8Array): Uint8Array => {
      const values = new Float32Array((bytes.length / TENSOR_TYPES[type].blockBytes) * 32)
      decodeBlocks(type, bytes, values)
      return bytesOf(values.map((value) => value + 0))
    }
    return [...shapes.map(encodeCase), ...vanishing.map((shape) => mapResult(encodeCase(shape), decoded))]
  })
}

function quantizeCases(): ConformanceCase[] {
  const shapes: readonly (readonly [number, number, Character])[] = [
    [1, 1, 'normal'],
    [1, 32, 'normal'],
    [2, 33, 'normal'],
    [3, 64, 'wide'],
    [4, 72, 'normal'],
    [5, 96, 'offset'],
    [7, 100, 'normal'],
    [8, 31, 'normal'],
    [9, 960, 'normal'],
    [33, 576, 'normal'],
    [1, 4304, 'normal'],
    [2, 72, 'zeros'],
    [3, 96, 'denormals'],
    [3, 96, 'small'],
    [3, 96, 'large'],
    [5, 320, 'ties'],
    [4, 160, 'nan'],
    [4, 160, 'infinite'],
  ]
  return shapes.map(([rows, columns, character]) => {
    const bitwise = defineCase('quantizeRows', {
      scalars: { rows, columns },
      data: character,
      format: 'bytes',
      contents: (random) => ({
        x: input(bytesOf(randomFloats(random, rows * columns, character))),
        out: output(quantizedByteLength(rows, columns)),
      }),
    })
    // Which NaN a scale is, is left to the processor.
    return mapResult(bitwise, (bytes) => {
      const { scales } = quantizedRowsIn(bytes, rows, columns)
      scales.forEach((scale, i) => {
        if (Number.isNaN(scale)) scales[i] = Number.NaN
      })
      return bytes
    })
  })
}

/** Every half, every midpoint between two neighbours, and the float32 on either side of each. */
function floatsAroundHalves(): Float32Array {
  const LARGEST_HALF = 0x7bff
  const values: number[] = []
  const step = new Float32Array(1)
  const stepBits = new Uint32Array(step.buffer)
  for (let bits = 0; bits <= LARGEST_HALF; bits++) {
    const half = halfToFloat(bits)
    // The step after the largest half goes to 65536, where infinity begins to be nearer.
    const next = bits === LARGEST_HALF ? 65536 : halfToFloat(bits + 1)
    for (const centre of [half, (half + next) / 2]) {
      step[0] = centre
      const centreBits = stepBits[0]!
      for (const neighbour of [centreBits - 1, centreBits, centreBits + 1]) {
        if (neighbour < 0) continue
        stepBits[0] = neighbour
        values.push(step[0]!, -step[0]!)
      }
    }
  }
  return Float32Array.from(values)
}

function storeCases(): ConformanceCase[] {
  const shapes: readonly (readonly [rows: number, heads: number, headDim: number, Character])[] = [
    [1, 1, 4, 'normal'],
    [2, 3, 36, 'normal'],
    [3, 1, 72, 'wide'],
    [5, 2, 64, 'zeros'],
    [2, 1, 96, 'denormals'],
    [2, 1, 96, 'large'],
    [4, 5, 32, 'nan'],
    [4, 5, 32, 'infinite'],
    [9, 5, 64, 'normal'],
    [2, 1, 33, 'normal'],
  ]
  const formats = { F32: 'f32', F16: 'f16', Q8_0: 'bytes' } as const
  const shaped = CACHE_TYPES.flatMap((type) =>
    shapes
      .filter(([, , headDim]) => type !== 'Q8_0' || headDim % 4 === 0)
      .map(([rows, heads, headDim, character]) => {
        const headStride = rows + (heads % 3)
        const stored = (heads - 1) * headStride + rows
        return defineCase('storeRows', {
          scalars: { type, rows, heads, headDim, headStride },
          data: character,
          format: formats[type],
          contents: (random) => ({
            x: input(bytesOf(randomFloats(random, rows * heads * headDim, character))),
            out: output(stored * cacheRowByteLength(type, headDim)),
          }),
        })
      }),
  )
  const around = floatsAroundHalves()
  const exhaustive = defineCase('storeRows', {
    scalars: { type: 'F16', rows: 1, heads: 1, headDim: around.length, headStride: 1 },
    data: 'around every half and every midpoint',
    format: 'f16',
    contents: () => ({ x: input(bytesOf(around)), out: output(around.length * 2) }),
  })
  return [...shaped, exhaustive]
}

export function matrixCases(): ConformanceCase[] {
  return [
    ...packCases(),
    encodeThenPackCase('Q8_0'),
    encodeThenPackCase('Q4_0'),
    ...gatherCases(),
    ...decodeCases(),
    ...encodeCases(),
    ...quantizeCases(),
    ...storeCases(),
  ]
}
