import type { OpArguments } from '../backend.ts'
import { dot } from './matmul.ts'
import { floatsAt } from './memory.ts'

/** Scores, softmax and weighted sum in double, one query and head at a time. */
export function localAttention(args: OpArguments<'localAttention'>): void {
  const { rows, heads, headDim, scale, left, right, reach } = args
  const q = floatsAt(args.q, rows * heads * headDim)
  const k = floatsAt(args.k, rows * heads * headDim)
  const v = floatsAt(args.v, rows * heads * headDim)
  const relativeKeys = args.relativeKeys && floatsAt(args.relativeKeys, (2 * reach + 1) * headDim)
  const relativeValues = args.relativeValues && floatsAt(args.relativeValues, (2 * reach + 1) * headDim)
  const out = floatsAt(args.out, rows * heads * headDim)
  const isVisible = (query: number, key: number): boolean =>
    (left === 0 && right === 0) || key === query || (query > key ? query - key < left : key - query < right)
  for (let query = 0; query < rows; query++) {
    const keys = Array.from({ length: rows }, (_, key) => key).filter((key) => isVisible(query, key))
    for (let head = 0; head < heads; head++) {
      const at = (row: number): number => (row * heads + head) * headDim
      const near = (key: number): boolean => Math.abs(key - query) <= reach
      const relativeAt = (key: number): number => (key - query + reach) * headDim
      const scores = keys.map((key) => {
        const distant =
          relativeKeys && near(key) ? dot(q, at(query), relativeKeys, relativeAt(key), headDim) : 0
        return (dot(q, at(query), k, at(key), headDim) + distant) * scale
      })
      const largest = Math.max(...scores)
      const weights = scores.map((score) => Math.exp(score - largest))
      const total = weights.reduce((a, b) => a + b, 0)
      for (let i = 0; i < headDim; i++) {
        const sum = keys.reduce((acc, key, index) => {
          const distant = relativeValues && near(key) ? (relativeValues[relativeAt(key) + i] as number) : 0
          return acc + (weights[index] as number) * ((v[at(key) + i] as number) + distant)
        }, 0)
        out[at(query) + i] = sum / total
      }
    }
  }
}
