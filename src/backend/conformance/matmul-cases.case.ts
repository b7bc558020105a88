/** Linear layers, for each type of matrix. */
import { TENSOR_TYPES } from '../../quant/tensor-types.ts'
import { isFloatMatrixType, type MatrixType, quantizedByteLength } from '../ops.ts'
import { quantizeInto } from '../reference/quantize-rows.ts'
import { ALL_TYPES } from './matrix-cases.case.ts'
import {
  type ConformanceCase,
  type Content,
  defineCase,
  inPieces,
  input,
  output,
  update,
} from './op-case.case.ts'
import {
  bytesOf,
  type Character,
  extremeMatrix,
  type Random,
  randomFloats,
  randomMatrix,
} from './random.case.ts'

interface Shape {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly character?: Character
}

/** Row lengths of the shapes below, shortest first; the longest is near a feed-forward layer's. */
function rowLengths(type: MatrixType): readonly [number, number, number, number, number] {
  if (isFloatMatrixType(type)) return [3, 72, 96, 1152, 4304]
  if (TENSOR_TYPES[type].blockLength === 256) return [256, 512, 768, 1536, 4352]
  return type === 'Q8_0' || type === 'Q4_0' ? [32, 72, 96, 1152, 4304] : [32, 64, 96, 1152, 4320]
}

/** Every count of rows from 1 to 9 and one beyond any tile, against whole and broken groups of 8 columns. */
function shapesOf(type: MatrixType): readonly Shape[] {
  const [shortest, short, middle, long, longest] = rowLengths(type)
  return [
    { m: 1, n: 1, k: short },
    { m: 1, n: 7, k: middle },
    { m: 1, n: 8, k: shortest },
    { m: 1, n: 13, k: longest },
    { m: 1, n: 64, k: long },
    { m: 1, n: 961, k: middle },
    { m: 2, n: 13, k: short },
    { m: 2, n: 40, k: long },
    { m: 3, n: 8, k: middle },
    { m: 3, n: 21, k: shortest },
    { m: 4, n: 16, k: long },
    { m: 4, n: 13, k: longest },
    { m: 5, n: 24, k: short },
    { m: 6, n: 7, k: middle },
    { m: 7, n: 33, k: short },
    { m: 8, n: 8, k: shortest },
    { m: 8, n: 64, k: middle },
    { m: 9, n: 13, k: long },
    { m: 9, n: 1, k: middle },
    { m: 33, n: 40, k: middle },
    { m: 65, n: 25, k: short },
    { m: 65, n: 16, k: long },
    { m: 4, n: 13, k: middle, character: 'zeros' },
    { m: 5, n: 13, k: middle, character: 'small' },
    { m: 1, n: 13, k: middle, character: 'large' },
    { m: 5, n: 13, k: middle, character: 'large' },
    { m: 3, n: 9, k: middle, character: 'infinite' },
    { m: 1, n: 9, k: middle, character: 'infinite' },
  ]
}

function matrixContent(random: Random, type: MatrixType, { n, k }: Shape, blocks: boolean): Content {
  const raw = randomMatrix(random, type, n, k, blocks ? 'blocks' : 'encoded')
  return { kind: 'matrix', rows: { type, raw, rows: n, columns: k, pieces: inPieces(n) } }
}

/** The four combinations in turn. */
function variantOf(index: number): { readonly bias: boolean; readonly accumulate: 0 | 1 } {
  return { bias: index % 2 === 1, accumulate: index % 4 < 2 ? 0 : 1 }
}

function outContent(random: Random, { m, n }: Shape, accumulate: 0 | 1): Content {
  return accumulate === 1 ? update(bytesOf(randomFloats(random, m * n))) : output(m * n * 4)
}

function quantizedCase(type: MatrixType, shape: Shape, index: number): ConformanceCase {
  const { m, n, k, character = 'normal' } = shape
  const { bias, accumulate } = variantOf(index)
  const blocks = index % 3 !== 0
  return defineCase('matmulQuantized', {
    scalars: { type, m, n, k, accumulate },
    data: `${bias ? 'with' : 'without'} bias, ${character}, ${blocks ? 'random blocks' : 'encoded weights'}`,
    contents: (random) => {
      const x = new Uint8Array(quantizedByteLength(m, k))
      quantizeInto(x, randomFloats(random, m * k, character), m, k)
      return {
        x: input(x),
        matrix: matrixContent(random, type, shape, blocks),
        bias: bias ? input(bytesOf(randomFloats(random, n))) : undefined,
        out: outContent(random, shape, accumulate),
      }
    },
  })
}

function floatCase(type: MatrixType, shape: Shape, index: number): ConformanceCase {
  const { m, n, k, character = 'normal' } = shape
  const { bias, accumulate } = variantOf(index)
  return defineCase('matmulFloat', {
    scalars: { type, m, n, k, accumulate },
    data: `${bias ? 'with' : 'without'} bias, ${character}`,
    contents: (random) => ({
      x: input(bytesOf(randomFloats(random, m * k, character))),
      matrix: matrixContent(random, type, shape, false),
      bias: bias ? input(bytesOf(randomFloats(random, n))) : undefined,
      out: outContent(random, shape, accumulate),
    }),
  })
}

/** Every weight code and every activation at its limit, over a long row: nothing may saturate on the way. */
function extremeCases(type: MatrixType): ConformanceCase[] {
  const k = rowLengths(type)[3]
  const n = 9
  return [1, 5].map((m) =>
    defineCase('matmulQuantized', {
      scalars: { type, m, n, k, accumulate: 0 },
      data: 'activations ±127, rows of extreme codes',
      contents: () => {
        const x = new Uint8Array(quantizedByteLength(m, k))
        const signs = new Float32Array(m * k).map((_, i) => (Math.floor(i / k) % 2 === 0 ? 1 : -1))
        quantizeInto(x, signs, m, k)
        return {
          x: input(x),
          matrix: {
            kind: 'matrix',
            rows: { type, raw: extremeMatrix(type, n, k), rows: n, columns: k, pieces: inPieces(n) },
          },
          bias: undefined,
          out: output(m * n * 4),
        }
      },
    }),
  )
}

export function matmulCases(): ConformanceCase[] {
  return ALL_TYPES.flatMap((type) =>
    isFloatMatrixType(type)
      ? [
          ...shapesOf(type).map((shape, index) => floatCase(type, shape, index)),
          floatCase(type, { m: 4, n: 13, k: 96, character: 'nan' }, 0),
          floatCase(type, { m: 4, n: 13, k: 96, character: 'denormals' }, 0),
        ]
      : [...shapesOf(type).map((shape, index) => quantizedCase(type, shape, index)), ...extremeCases(type)],
  )
}
