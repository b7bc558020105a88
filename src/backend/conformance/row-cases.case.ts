/** Normalisation, rotary embedding, activation functions, sums, copies and rearranging. */
import { ACTIVATIONS, ROPE_PAIRINGS } from '../ops.ts'
import { type ConformanceCase, defineCase, input, output, same, update } from './op-case.case.ts'
import { bytesOf, type Character, type Random, randomFloats } from './random.case.ts'

type RowShape = readonly [rows: number, columns: number, character: Character]

function floats(random: Random, length: number, character: Character = 'normal'): Uint8Array {
  return bytesOf(randomFloats(random, length, character))
}

const NORM_SHAPES: readonly RowShape[] = [
  [1, 1, 'normal'],
  [1, 3, 'normal'],
  [2, 32, 'normal'],
  [3, 33, 'wide'],
  [4, 64, 'normal'],
  [5, 72, 'normal'],
  [7, 576, 'normal'],
  [8, 961, 'normal'],
  [9, 1152, 'normal'],
  [33, 96, 'normal'],
  [3, 960, 'offset'],
  [2, 96, 'zeros'],
  [2, 96, 'denormals'],
  [2, 961, 'small'],
  [3, 961, 'squarable'],
  [8, 100, 'nan'],
]

function rmsNormCases(): ConformanceCase[] {
  return NORM_SHAPES.flatMap(([rows, columns, character], index) =>
    [false, true].map((inPlace) =>
      defineCase('rmsNorm', {
        scalars: { rows, columns, epsilon: [1e-5, 1e-6][index % 2]! },
        data: `${character}${inPlace ? ', in place' : ''}`,
        contents: (random) => {
          const x = floats(random, rows * columns, character)
          return {
            x: inPlace ? update(x) : input(x),
            weight: input(floats(random, columns)),
            out: inPlace ? same('x') : output(rows * columns * 4),
          }
        },
      }),
    ),
  )
}

function layerNormCases(): ConformanceCase[] {
  return NORM_SHAPES.flatMap(([rows, columns, character], index) =>
    [false, true].map((inPlace) =>
      defineCase('layerNorm', {
        scalars: { rows, columns, epsilon: [1e-5, 1e-6][index % 2]! },
        data: `${character}${inPlace ? ', in place' : ''}`,
        contents: (random) => {
          const x = floats(random, rows * columns, character)
          return {
            x: inPlace ? update(x) : input(x),
            weight: input(floats(random, columns)),
            bias: input(floats(random, columns)),
            out: inPlace ? same('x') : output(rows * columns * 4),
          }
        },
      }),
    ),
  )
}

/** All elements equal: the variance is 0, so that only epsilon keeps the quotient finite. */
function constantRowsCase(): ConformanceCase {
  return defineCase('layerNorm', {
    scalars: { rows: 3, columns: 64, epsilon: 1e-6 },
    data: 'constant rows',
    contents: (random) => ({
      x: input(bytesOf(new Float32Array(3 * 64).fill(3))),
      weight: input(floats(random, 64)),
      bias: input(floats(random, 64)),
      out: output(3 * 64 * 4),
    }),
  })
}

function ropeCases(): ConformanceCase[] {
  const shapes = [
    [1, 1, 2],
    [1, 3, 10],
    [2, 5, 16],
    [3, 2, 72],
    [5, 15, 64],
    [4, 1, 80],
    [9, 3, 128],
    [33, 2, 64],
  ] as const
  return Object.values(ROPE_PAIRINGS).flatMap((pairing) => [
    ...shapes.map(([rows, heads, headDim]) => ropeCase(rows, heads, headDim, pairing, 'normal')),
    ropeCase(5, 8, 36, pairing, 'normal', 32),
    ropeCase(4, 3, 52, pairing, 'normal', 32),
    ropeCase(3, 2, 9, pairing, 'normal', 2),
    ropeCase(3, 3, 64, pairing, 'zeros'),
    ropeCase(3, 3, 64, pairing, 'denormals'),
    ropeCase(3, 3, 64, pairing, 'large'),
    ropeCase(3, 3, 64, pairing, 'nan'),
  ])
}

function ropeCase(
  rows: number,
  heads: number,
  headDim: number,
  pairing: number,
  character: Character,
  rotaryDim = headDim,
): ConformanceCase {
  return defineCase('rope', {
    scalars: { rows, heads, headDim, rotaryDim, pairing },
    data: character,
    contents: (random) => {
      const half = rotaryDim / 2
      const table = new Float32Array(rows * rotaryDim)
      for (let row = 0; row < rows; row++) {
        for (let i = 0; i < half; i++) {
          const angle = random.next() * 1000
          table[row * rotaryDim + i] = Math.cos(angle)
          table[row * rotaryDim + half + i] = Math.sin(angle)
        }
      }
      return { x: update(floats(random, rows * heads * headDim, character)), table: input(bytesOf(table)) }
    },
  })
}

const POINTWISE_SHAPES: readonly RowShape[] = [
  [1, 1, 'wide'],
  [1, 3, 'wide'],
  [2, 33, 'normal'],
  [3, 64, 'wide'],
  [5, 72, 'wide'],
  [9, 961, 'wide'],
  [33, 96, 'wide'],
  [2, 96, 'zeros'],
  [2, 96, 'denormals'],
  [2, 96, 'small'],
  [2, 97, 'large'],
  [4, 100, 'nan'],
  [4, 100, 'infinite'],
]

/** Every 1/16 from -128 to 128: through the curved part into both flat ends, past where float32 exp overflows. */
function sweep(): Float32Array {
  return Float32Array.from({ length: 4097 }, (_, i) => i / 16 - 128)
}

function activateCases(): ConformanceCase[] {
  return Object.values(ACTIVATIONS).flatMap((kind) => [
    ...POINTWISE_SHAPES.map(([rows, columns, character]) =>
      defineCase('activate', {
        scalars: { kind, rows, columns },
        data: character,
        contents: (random) => ({ x: update(floats(random, rows * columns, character)) }),
      }),
    ),
    defineCase('activate', {
      scalars: { kind, rows: 1, columns: 4097 },
      data: 'sweep from -128 to 128',
      contents: () => ({ x: update(bytesOf(sweep())) }),
    }),
    defineCase('activate', {
      scalars: { kind, rows: 1, columns: 4097 },
      data: 'sweep from -8 to 8',
      contents: () => ({ x: update(bytesOf(sweep().map((value) => value / 16))) }),
    }),
  ])
}

function leakyReluCases(): ConformanceCase[] {
  return POINTWISE_SHAPES.flatMap(([rows, columns, character]) =>
    [0.1, 0].map((slope) =>
      defineCase('leakyRelu', {
        scalars: { rows, columns, slope },
        data: character,
        contents: (random) => ({ x: update(floats(random, rows * columns, character)) }),
      }),
    ),
  )
}

function siluMulCases(): ConformanceCase[] {
  const shaped = POINTWISE_SHAPES.flatMap(([rows, columns, character]) =>
    [false, true].map((inPlace) =>
      defineCase('siluMul', {
        scalars: { rows, columns },
        data: `${character}${inPlace ? ', in place' : ''}`,
        contents: (random) => {
          const gate = floats(random, rows * columns, character)
          return {
            gate: inPlace ? update(gate) : input(gate),
            up: input(floats(random, rows * columns)),
            out: inPlace ? same('gate') : output(rows * columns * 4),
          }
        },
      }),
    ),
  )
  const swept = [1, 1 / 16].map((scale) =>
    defineCase('siluMul', {
      scalars: { rows: 1, columns: 4097 },
      data: `sweep from -${128 * scale} to ${128 * scale}`,
      contents: () => ({
        gate: input(bytesOf(sweep().map((value) => value * scale))),
        up: input(bytesOf(new Float32Array(4097).fill(1))),
        out: output(4097 * 4),
      }),
    }),
  )
  return [...shaped, ...swept]
}

function addCases(): ConformanceCase[] {
  const shaped = POINTWISE_SHAPES.map(([rows, columns, character]) =>
    defineCase('addRows', {
      scalars: { rows, columns },
      data: character,
      contents: (random) => ({
        x: update(floats(random, rows * columns, character)),
        y: input(floats(random, rows * columns)),
      }),
    }),
  )
  const doubled = defineCase('addRows', {
    scalars: { rows: 3, columns: 33 },
    data: 'to itself',
    contents: (random) => ({ x: update(floats(random, 99)), y: same('x') }),
  })
  return [...shaped, doubled]
}

function copyCases(): ConformanceCase[] {
  return POINTWISE_SHAPES.map(([rows, columns, character]) =>
    defineCase('copyRows', {
      scalars: { rows, columns },
      data: character,
      format: 'bytes',
      contents: (random) => ({
        source: input(floats(random, rows * columns, character)),
        out: output(rows * columns * 4),
      }),
    }),
  )
}

function xorCases(): ConformanceCase[] {
  return POINTWISE_SHAPES.map(([rows, columns, character]) =>
    defineCase('xorRows', {
      scalars: { rows, columns },
      data: character,
      format: 'bytes',
      contents: (random) => ({
        x: input(floats(random, rows * columns, character)),
        out: output(rows * 4),
      }),
    }),
  )
}

function patchCases(): ConformanceCase[] {
  const shapes = [
    // channels, height, width, patch
    [1, 1, 1, 1],
    [3, 2, 3, 1],
    [1, 6, 4, 2],
    [3, 7, 8, 3],
    [3, 28, 42, 14],
    [3, 45, 33, 14],
    [3, 64, 48, 16],
    [3, 37, 70, 5],
    [2, 13, 17, 13],
  ] as const
  return shapes.map(([channels, height, width, patch]) => {
    const patchRows = Math.floor(height / patch)
    return defineCase('extractPatches', {
      scalars: { channels, height, width, patch, patchRows },
      data: 'normal',
      format: 'bytes',
      contents: (random) => ({
        pixels: input(floats(random, channels * height * width)),
        out: output(patchRows * Math.floor(width / patch) * channels * patch * patch * 4),
      }),
    })
  })
}

function shuffleCases(): ConformanceCase[] {
  const shapes = [
    // gridRows, gridColumns, columns, factor
    [1, 1, 1, 1],
    [2, 2, 1, 2],
    [3, 5, 7, 1],
    [4, 6, 5, 2],
    [6, 9, 72, 3],
    [8, 4, 33, 4],
    [32, 32, 64, 4],
    [27, 27, 40, 3],
  ] as const
  return shapes.map(([gridRows, gridColumns, columns, factor]) =>
    defineCase('pixelShuffle', {
      scalars: { gridRows, gridColumns, columns, factor },
      data: 'normal',
      format: 'bytes',
      contents: (random) => ({
        x: input(floats(random, gridRows * gridColumns * columns)),
        out: output(gridRows * gridColumns * columns * 4),
      }),
    }),
  )
}

function poolCases(): ConformanceCase[] {
  const shapes = [
    // rows, gridColumns, columns, factor
    [1, 1, 1, 1],
    [1, 2, 1, 2],
    [3, 5, 7, 1],
    [2, 6, 5, 3],
    [3, 9, 70, 3],
    [12, 24, 64, 2],
    [8, 24, 33, 3],
    [1, 8, 36, 8],
  ] as const
  return shapes.map(([rows, gridColumns, columns, factor]) =>
    defineCase('poolRows', {
      scalars: { rows, gridColumns, columns, factor },
      data: 'normal',
      format: 'bytes',
      contents: (random) => ({
        x: input(floats(random, rows * factor * gridColumns * columns)),
        out: output(((rows * gridColumns) / factor) * columns * 4),
      }),
    }),
  )
}

export function rowCases(): ConformanceCase[] {
  return [
    ...rmsNormCases(),
    ...layerNormCases(),
    constantRowsCase(),
    ...ropeCases(),
    ...activateCases(),
    ...leakyReluCases(),
    ...siluMulCases(),
    ...addCases(),
    ...copyCases(),
    ...xorCases(),
    ...patchCases(),
    ...shuffleCases(),
    ...poolCases(),
  ]
}
