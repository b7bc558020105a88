/** Attention: tile borders in keys and queries, grouped heads, masks, and scores that are far apart. */
import { encodeBlocks } from '../../quant/encode.ts'
import { type ConformanceCase, defineCase, input, output } from './op-case.case.ts'
import { bytesOf, type Character, type Random, randomFloats } from './random.case.ts'

type CacheType = 'F32' | 'F16'

interface Shape {
  readonly queries: number
  readonly keys: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly causal: 0 | 1
  readonly firstPosition: number
}

interface Data {
  readonly queryScale?: number
  readonly valueScale?: number
  readonly character?: Character
  /** Keys and values that no query may see are huge. */
  readonly hiddenKeysAreHuge?: boolean
}

/** Largest finite half, so that the value fits both cache types. */
const HUGE = 65504

function attentionCase(type: CacheType, shape: Shape, data: string, options: Data = {}): ConformanceCase {
  const { queries, keys, heads, kvHeads, headDim, causal, firstPosition } = shape
  return defineCase('attention', {
    scalars: { type, ...shape, scale: 1 / Math.sqrt(headDim) },
    data,
    contents: (random) => {
      const { queryScale = 1, valueScale = 1, character = 'normal', hiddenKeysAreHuge = false } = options
      const rowLength = kvHeads * headDim
      const visible = causal === 1 ? firstPosition + queries : keys
      const cache = (scale: number): Uint8Array => {
        const values = scaled(random, keys * rowLength, scale, 'normal')
        if (hiddenKeysAreHuge) values.fill(HUGE, visible * rowLength)
        return encodeBlocks(type, values)
      }
      return {
        q: input(bytesOf(scaled(random, queries * heads * headDim, queryScale, character))),
        k: input(cache(1)),
        v: input(cache(valueScale)),
        out: output(queries * heads * headDim * 4),
      }
    },
  })
}

function scaled(random: Random, length: number, scale: number, character: Character): Float32Array {
  return randomFloats(random, length, character).map((value) => value * scale)
}

const KEY_COUNTS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130]
const QUERY_COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70]

/** heads, kvHeads, headDim of real models and of none. */
const HEAD_SHAPES = [
  [4, 4, 16],
  [3, 1, 64],
  [2, 2, 72],
  [4, 2, 128],
  [9, 3, 64],
  [1, 1, 20],
  [6, 2, 80],
] as const

function casesOf(type: CacheType): ConformanceCase[] {
  const decode = KEY_COUNTS.map((keys, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[index % HEAD_SHAPES.length]!
    const shape = { queries: 1, keys, heads, kvHeads, headDim, causal: 1, firstPosition: keys - 1 } as const
    return attentionCase(type, shape, 'one query at the end')
  })
  const fromStart = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[index % HEAD_SHAPES.length]!
    const shape = { queries, keys: queries, heads, kvHeads, headDim, causal: 1, firstPosition: 0 } as const
    return attentionCase(type, shape, 'from the start')
  })
  const continued = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[(index + 3) % HEAD_SHAPES.length]!
    const firstPosition = KEY_COUNTS[(index * 5 + 2) % KEY_COUNTS.length]!
    const keys = firstPosition + queries
    return attentionCase(
      type,
      { queries, keys, heads, kvHeads, headDim, causal: 1, firstPosition },
      'continued',
    )
  })
  const bidirectional = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[(index + 5) % HEAD_SHAPES.length]!
    const keys = KEY_COUNTS[(index * 4 + 1) % KEY_COUNTS.length]!
    return attentionCase(
      type,
      { queries, keys, heads, kvHeads, headDim, causal: 0, firstPosition: 0 },
      'all see all',
    )
  })
  const middle = { queries: 9, keys: 70, heads: 6, kvHeads: 2, headDim: 64 } as const
  const causal = { ...middle, causal: 1, firstPosition: 61 } as const
  const open = { ...middle, causal: 0, firstPosition: 0 } as const
  const hidden = { ...middle, causal: 1, firstPosition: 20 } as const
  const special = [
    attentionCase(type, open, 'scores far apart', { queryScale: 8 }),
    attentionCase(type, causal, 'scores 1e30 apart', { character: 'large' }),
    attentionCase(type, open, 'zero queries: plain means', { character: 'zeros' }),
    attentionCase(type, causal, 'denormal queries', { character: 'denormals' }),
    attentionCase(type, open, 'NaN in some queries', { character: 'nan' }),
    attentionCase(type, causal, 'large values', { valueScale: 1e4 }),
    attentionCase(type, causal, 'subnormal values', { valueScale: type === 'F32' ? 1e-39 : 1e-6 }),
    attentionCase(type, hidden, 'keys out of sight are huge', { hiddenKeysAreHuge: true }),
    attentionCase(type, { ...hidden, queries: 1 }, 'keys out of sight are huge', { hiddenKeysAreHuge: true }),
  ]
  return [...decode, ...fromStart, ...continued, ...bidirectional, ...special]
}

export function attentionCases(): ConformanceCase[] {
  return [...casesOf('F32'), ...casesOf('F16')]
}
