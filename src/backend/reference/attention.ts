import type { BufferRef, OpArguments } from '../backend.ts'
import type { CacheType } from '../cache-rows.ts'
import { readCacheRow } from './cache-rows.ts'
import { dot } from './matmul.ts'
import { floatsAt } from './memory.ts'

/** The textbook form: scores, softmax and weighted sum in double, one query and head at a time. */
export function attention(args: OpArguments<'attention'>): void {
  const { queries, keys, heads, kvHeads, headDim, positionStride, headStride } = args
  const { scale, causal, firstPosition } = args
  const type = args.type as CacheType
  const q = floatsAt(args.q, queries * heads * headDim)
  /** (kvHeads, keys) rows of headDim. */
  const rowsOf = (ref: BufferRef): Float32Array[][] =>
    Array.from({ length: kvHeads }, (_, head) =>
      Array.from({ length: keys }, (_, position) =>
        readCacheRow(type, ref, position * positionStride + head * headStride, headDim),
      ),
    )
  const k = rowsOf(args.k)
  const v = rowsOf(args.v)
  const out = floatsAt(args.out, queries * heads * headDim)
  for (let query = 0; query < queries; query++) {
    const visible = causal === 1 ? Math.min(keys, firstPosition + query + 1) : keys
    for (let head = 0; head < heads; head++) {
      const queryAt = (query * heads + head) * headDim
      const kvHead = Math.floor(head / (heads / kvHeads))
      const headKeys = k[kvHead] as Float32Array[]
      const headValues = v[kvHead] as Float32Array[]
      const scores = new Float64Array(visible).map(
        (_, key) => dot(q, queryAt, headKeys[key] as Float32Array, 0, headDim) * scale,
      )
      const largest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
      const weights = scores.map((score) => Math.exp(score - largest))
      const total = weights.reduce((a, b) => a + b, 0)
      for (let i = 0; i < headDim; i++) {
        const sum = weights.reduce((acc, weight, key) => acc + weight * (headValues[key]?.[i] as number), 0)
        out[queryAt + i] = sum / total
      }
    }
  }
}
