/** Attention: tile borders in keys and queries, grouped heads, masks, layouts, and scores that are far apart. */
import { CACHE_TYPES, type CacheType, cacheRowByteLength } from '../cache-rows.ts'
import { encodeCacheRow } from '../reference/cache-rows.ts'
import { type ConformanceCase, defineCase, input, output } from './op-case.case.ts'
import { bytesOf, type Character, type Random, randomFloats } from './random.case.ts'

interface Shape {
  readonly queries: number
  readonly keys: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly causal: 0 | 1
  readonly firstPosition: number
  /** Rows of all heads position by position, as layers make them, or head by head with room between, as caches do. */
  readonly layout: 'positions' | 'heads'
}

interface Data {
  readonly queryScale?: number
  readonly valueScale?: number
  readonly character?: Character
  /** Keys and values that no query may see are huge. */
  readonly hiddenKeysAreHuge?: boolean
}

/** Subnormal numbers; at 8 bits such whose scales are not, since scales times weights would lose their last bits. */
const SMALLEST = { F32: 1e-39, F16: 1e-6, Q8_0: 1e-33 }

/** Largest finite half, so that the value fits both cache types. */
const HUGE = 65504

/** Unused rows behind those of each head. */
const SPARE_ROWS = 3

function attentionCase(type: CacheType, shape: Shape, data: string, options: Data = {}): ConformanceCase {
  const { layout, ...sizes } = shape
  const { queries, keys, heads, kvHeads, headDim, causal, firstPosition } = sizes
  const strides =
    layout === 'positions'
      ? { positionStride: kvHeads, headStride: 1 }
      : { positionStride: 1, headStride: keys + SPARE_ROWS }
  return defineCase('attention', {
    scalars: { type, ...sizes, ...strides, scale: 1 / Math.sqrt(headDim) },
    data,
    contents: (random) => {
      const { queryScale = 1, valueScale = 1, character = 'normal', hiddenKeysAreHuge = false } = options
      const visible = causal === 1 ? firstPosition + queries : keys
      const rowBytes = cacheRowByteLength(type, headDim)
      const cache = (scale: number): Uint8Array => {
        const { positionStride, headStride } = strides
        const rows = (keys - 1) * positionStride + (kvHeads - 1) * headStride + 1
        const bytes = new Uint8Array(rows * rowBytes).fill(0xff) // NaN where nothing stands
        for (let key = 0; key < keys; key++) {
          for (let head = 0; head < kvHeads; head++) {
            const values = scaled(random, headDim, scale, 'normal')
            if (hiddenKeysAreHuge && key >= visible) values.fill(HUGE)
            bytes.set(encodeCacheRow(type, values), (key * positionStride + head * headStride) * rowBytes)
          }
        }
        return bytes
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

const layoutOf = (index: number): Shape['layout'] => (index % 2 === 0 ? 'heads' : 'positions')

function casesOf(type: CacheType): ConformanceCase[] {
  const decode = KEY_COUNTS.map((keys, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[index % HEAD_SHAPES.length]!
    const sizes = { queries: 1, keys, heads, kvHeads, headDim, causal: 1, firstPosition: keys - 1 } as const
    return attentionCase(type, { ...sizes, layout: layoutOf(index) }, 'one query at the end')
  })
  const fromStart = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[index % HEAD_SHAPES.length]!
    const sizes = { queries, keys: queries, heads, kvHeads, headDim, causal: 1, firstPosition: 0 } as const
    return attentionCase(type, { ...sizes, layout: layoutOf(index) }, 'from the start')
  })
  const continued = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[(index + 3) % HEAD_SHAPES.length]!
    const firstPosition = KEY_COUNTS[(index * 5 + 2) % KEY_COUNTS.length]!
    const keys = firstPosition + queries
    return attentionCase(
      type,
      { queries, keys, heads, kvHeads, headDim, causal: 1, firstPosition, layout: layoutOf(index + 1) },
      'continued',
    )
  })
  const bidirectional = QUERY_COUNTS.map((queries, index) => {
    const [heads, kvHeads, headDim] = HEAD_SHAPES[(index + 5) % HEAD_SHAPES.length]!
    const keys = KEY_COUNTS[(index * 4 + 1) % KEY_COUNTS.length]!
    return attentionCase(
      type,
      { queries, keys, heads, kvHeads, headDim, causal: 0, firstPosition: 0, layout: layoutOf(index) },
      'all see all',
    )
  })
  const middle = { queries: 9, keys: 70, heads: 6, kvHeads: 2, headDim: 64, layout: 'heads' } as const
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
    attentionCase(type, causal, 'the smallest values', { valueScale: SMALLEST[type] }),
    attentionCase(type, hidden, 'keys out of sight are huge', { hiddenKeysAreHuge: true }),
    ...[1, 8].map((queries) =>
      attentionCase(type, { ...hidden, queries }, 'keys out of sight are huge', { hiddenKeysAreHuge: true }),
    ),
    attentionCase(
      type,
      { ...open, queries: 20, keys: 9, heads: 62, kvHeads: 1, headDim: 128 },
      'more heads to a key than fit into scratch at once',
    ),
  ]
  return [...decode, ...fromStart, ...continued, ...bidirectional, ...special]
}

export function attentionCases(): ConformanceCase[] {
  return CACHE_TYPES.flatMap(casesOf)
}
