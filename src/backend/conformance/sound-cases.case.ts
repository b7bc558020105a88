/** Operations of speech models: borders of windows, odd channels, pieces of longer inputs. */
import { type ConformanceCase, defineCase, input, output, update } from './op-case.case.ts'
import { bytesOf, type Character, type Random, randomFloats } from './random.case.ts'

function floats(random: Random, length: number, character: Character = 'normal'): Uint8Array {
  return bytesOf(randomFloats(random, length, character))
}

function unfoldCases(): ConformanceCase[] {
  const shapes = [
    // rows, columns, outRows, kernel, stride, dilation, padding, firstRow
    [1, 1, 1, 1, 1, 1, 0, 0],
    [0, 3, 2, 3, 1, 1, 1, 0],
    [5, 3, 5, 3, 1, 1, 1, 0],
    [5, 3, 0, 3, 1, 1, 1, 0],
    [2, 4, 4, 7, 1, 1, 3, 0],
    [30, 36, 10, 3, 3, 1, 0, 0],
    [40, 8, 40, 5, 1, 3, 6, 0],
    [40, 8, 13, 5, 1, 3, 6, 20],
    [33, 52, 17, 3, 2, 1, 1, 0],
    [33, 52, 9, 3, 2, 1, 1, 8],
    [700, 1, 10, 127, 64, 1, 0, 0],
  ] as const
  return shapes.map(([rows, columns, outRows, kernel, stride, dilation, padding, firstRow]) =>
    defineCase('unfoldRows', {
      scalars: { rows, columns, outRows, kernel, stride, dilation, padding, firstRow },
      data: 'normal',
      format: 'bytes',
      contents: (random) => ({
        x: input(floats(random, rows * columns)),
        out: output(outRows * kernel * columns * 4),
      }),
    }),
  )
}

function foldCases(): ConformanceCase[] {
  const shapes = [
    // rows, columns, outRows, kernel, stride, padding, firstRow, firstInput
    [1, 1, 1, 1, 1, 0, 0, 0],
    [0, 3, 4, 2, 2, 0, 0, 0],
    [5, 3, 20, 8, 4, 2, 0, 0],
    [5, 3, 7, 8, 4, 2, 6, 0],
    [4, 32, 15, 7, 3, 2, 0, 0],
    [6, 33, 12, 16, 8, 4, 20, 2],
    [9, 8, 9, 3, 1, 1, 0, 0],
    [3, 5, 20, 2, 5, 0, 0, 0],
  ] as const
  return shapes.flatMap(([rows, columns, outRows, kernel, stride, padding, firstRow, firstInput]) =>
    [true, false].map((hasBias) =>
      defineCase('foldRows', {
        scalars: { rows, columns, outRows, kernel, stride, padding, firstRow, firstInput },
        data: hasBias ? 'with bias' : 'without bias',
        contents: (random) => ({
          x: input(floats(random, rows * kernel * columns)),
          bias: hasBias ? input(floats(random, columns)) : undefined,
          out: output(outRows * columns * 4),
        }),
      }),
    ),
  )
}

function depthwiseCases(): ConformanceCase[] {
  const shapes = [
    // rows, columns, kernel, dilation, padding
    [1, 1, 1, 1, 0],
    [0, 3, 3, 1, 1],
    [4, 3, 3, 1, 1],
    [20, 36, 3, 9, 9],
    [20, 192, 3, 3, 3],
    [13, 5, 7, 1, 6],
    [3, 8, 11, 1, 5],
  ] as const
  return shapes.flatMap(([rows, columns, kernel, dilation, padding]) =>
    [true, false].map((hasBias) =>
      defineCase('depthwiseConv', {
        scalars: { rows, columns, kernel, dilation, padding },
        data: hasBias ? 'with bias' : 'without bias',
        contents: (random) => ({
          x: input(floats(random, rows * columns)),
          weight: input(floats(random, kernel * columns)),
          bias: hasBias ? input(floats(random, columns)) : undefined,
          out: output(rows * columns * 4),
        }),
      }),
    ),
  )
}

const GATE_SHAPES = [
  [0, 4, 'normal'],
  [1, 1, 'wide'],
  [3, 5, 'wide'],
  [2, 128, 'wide'],
  [33, 192, 'normal'],
  [2, 33, 'large'],
  [2, 33, 'small'],
  [2, 8, 'nan'],
] as const satisfies readonly (readonly [rows: number, columns: number, character: Character])[]

function gateCases(): ConformanceCase[] {
  return GATE_SHAPES.map(([rows, columns, character]) =>
    defineCase('tanhSigmoidMul', {
      scalars: { rows, columns },
      data: character,
      contents: (random) => ({
        x: input(floats(random, rows * columns * 2, character)),
        out: output(rows * columns * 4),
      }),
    }),
  )
}

function lstmCases(): ConformanceCase[] {
  return GATE_SHAPES.map(([rows, hidden, character]) =>
    defineCase('lstmCell', {
      scalars: { rows, hidden },
      data: character,
      contents: (random) => ({
        gates: input(floats(random, rows * hidden * 4, character)),
        state: update(floats(random, rows * hidden * 2)),
      }),
    }),
  )
}

function groupNormCases(): ConformanceCase[] {
  const shapes = [
    // rows, columns, groups, character
    [1, 1, 1, 'normal'],
    [1, 4, 2, 'normal'],
    [7, 36, 1, 'normal'],
    [7, 36, 4, 'offset'],
    [300, 52, 1, 'normal'],
    [9, 33, 3, 'wide'],
    [2, 8, 1, 'zeros'],
  ] as const satisfies readonly (readonly [number, number, number, Character])[]
  return shapes.map(([rows, columns, groups, character]) =>
    defineCase('groupNorm', {
      scalars: { rows, columns, groups, epsilon: 1e-5 },
      data: character,
      contents: (random) => ({
        x: input(floats(random, rows * columns, character)),
        weight: input(floats(random, columns)),
        bias: input(floats(random, columns)),
        out: output(rows * columns * 4),
      }),
    }),
  )
}

function localAttentionCases(): ConformanceCase[] {
  const shapes = [
    // rows, heads, headDim, left, right, reach
    [0, 1, 4, 0, 0, 0],
    [1, 1, 1, 0, 0, 2],
    [1, 2, 4, 16, 4, 0],
    [9, 2, 16, 0, 0, 4],
    [40, 2, 96, 0, 0, 4],
    [3, 2, 5, 0, 0, 4],
    [50, 4, 9, 16, 4, 0],
    [50, 4, 40, 16, 0, 0],
    [23, 8, 36, 3, 2, 0],
    [23, 2, 8, 1, 1, 1],
  ] as const
  return shapes.flatMap(([rows, heads, headDim, left, right, reach]) =>
    [true, false].map((hasDistances) =>
      defineCase('localAttention', {
        scalars: { rows, heads, headDim, scale: 1 / Math.sqrt(headDim), left, right, reach },
        data: hasDistances ? 'with distances' : 'without distances',
        contents: (random) => {
          const sequence = () => input(floats(random, rows * heads * headDim))
          const distances = () =>
            hasDistances ? input(floats(random, (2 * reach + 1) * headDim)) : undefined
          return {
            q: sequence(),
            k: sequence(),
            v: sequence(),
            relativeKeys: distances(),
            relativeValues: distances(),
            out: output(rows * heads * headDim * 4),
          }
        },
      }),
    ),
  )
}

export function soundCases(): ConformanceCase[] {
  return [
    ...unfoldCases(),
    ...foldCases(),
    ...depthwiseCases(),
    ...gateCases(),
    ...lstmCases(),
    ...groupNormCases(),
    ...localAttentionCases(),
  ]
}
