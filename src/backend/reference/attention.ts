import type { OpArguments } from '../backend.ts'
import { dot } from './matmul.ts'
import { readMatrixRows } from './matrix.ts'
import { floatsAt } from './memory.ts'

/** The textbook form: scores, softmax and weighted sum in double, one query and head at a time. */
export function attention(args: OpArguments<'attention'>): void {
  const { type, queries, keys, heads, kvHeads, headDim, scale, causal, firstPosition } = args
  const q = floatsAt(args.q, queries * heads * headDim)
  const k = readMatrixRows(type, args.k, 0, keys, kvHeads * headDim)
  const v = readMatrixRows(type, args.v, 0, keys, kvHeads * headDim)
  const out = floatsAt(args.out, queries * heads * headDim)
  for (let query = 0; query < queries; query++) {
    const visible = causal === 1 ? Math.min(keys, firstPosition + query + 1) : keys
    for (let head = 0; head < heads; head++) {
      const queryAt = (query * heads + head) * headDim
      const keyHeadAt = Math.floor(head / (heads / kvHeads)) * headDim
      const keyAt = (key: number): number => key * kvHeads * headDim + keyHeadAt
      const scores = new Float64Array(visible).map(
        (_, key) => dot(q, queryAt, k, keyAt(key), headDim) * scale,
      )
      const largest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
      const weights = scores.map((score) => Math.exp(score - largest))
      const total = weights.reduce((a, b) => a + b, 0)
      for (let i = 0; i < headDim; i++) {
        const sum = weights.reduce((acc, weight, key) => acc + weight * (v[keyAt(key) + i] as number), 0)
        out[queryAt + i] = sum / total
      }
    }
  }
}
