/**
 * The bits of a row do not depend on how many others are computed with it: a model that checks several guessed tokens
 * in one pass must give what it gives token by token.
 */

import type { Backend, BufferRef } from '../backend.ts'
import { CACHE_TYPES, type CacheType, cacheRowByteLength } from '../cache-rows.ts'
import { isFloatMatrixType, type MatrixType, quantizedByteLength } from '../ops.ts'
import { encodeCacheRow } from '../reference/cache-rows.ts'
import { quantizeInto } from '../reference/quantize-rows.ts'
import { type BehaviourCase, expectEqual } from './behaviour.case.ts'
import { ALL_TYPES } from './matrix-cases.case.ts'
import { inPieces, packMatrix } from './op-case.case.ts'
import { bytesOf, createRandom, randomFloats, randomMatrix, seedOf } from './random.case.ts'

const OUTPUTS = 40
/** On both sides of where kernels change their ways. */
const ROW_COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 33]
const MOST_ROWS = 33

function matmulCase(type: MatrixType): BehaviourCase {
  const k = isFloatMatrixType(type) ? 72 : 512
  return {
    title: `linear layers of ${type}: rows have the bits of single ones`,
    async run(backend) {
      const random = createRandom(seedOf(type))
      const raw = randomMatrix(random, type, OUTPUTS, k)
      const matrix = await packMatrix(backend, {
        type,
        raw,
        rows: OUTPUTS,
        columns: k,
        pieces: inPieces(OUTPUTS),
      })
      const rows = Array.from({ length: MOST_ROWS }, () => randomFloats(random, k))
      const run = (from: number, m: number): Promise<Uint8Array> => {
        const given = Float32Array.from(rows.slice(from, from + m).flatMap((row) => [...row]))
        const bytes = isFloatMatrixType(type) ? bytesOf(given) : quantized(given, m, k)
        const x = place(backend, bytes)
        const out = backend.alloc(m * OUTPUTS * 4)
        const op = isFloatMatrixType(type) ? 'matmulFloat' : 'matmulQuantized'
        const sizes = { type, bias: undefined, m, n: OUTPUTS, k, accumulate: 0 }
        backend.enqueue(op, { ...sizes, x, matrix: matrix.ref, out })
        return backend.read(out, m * OUTPUTS * 4)
      }
      await expectRowBits(OUTPUTS * 4, run)
    },
  }
}

function attentionCase(type: CacheType, heads: number, kvHeads: number, headDim: number): BehaviourCase {
  const keys = 131
  return {
    title: `attention of ${type}, ${heads} heads of ${headDim} over ${kvHeads}: queries have the bits of single ones`,
    async run(backend) {
      const random = createRandom(seedOf(`${type} ${headDim}`))
      const rowBytes = cacheRowByteLength(type, headDim)
      const cache = (): BufferRef => {
        const bytes = new Uint8Array(kvHeads * keys * rowBytes)
        for (let row = 0; row < kvHeads * keys; row++) {
          bytes.set(encodeCacheRow(type, randomFloats(random, headDim)), row * rowBytes)
        }
        return place(backend, bytes)
      }
      const k = cache()
      const v = cache()
      const width = heads * headDim
      const rows = Array.from({ length: MOST_ROWS }, () => randomFloats(random, width, 'wide'))
      const run = (from: number, queries: number): Promise<Uint8Array> => {
        const given = Float32Array.from(rows.slice(from, from + queries).flatMap((row) => [...row]))
        const out = backend.alloc(queries * width * 4)
        const firstPosition = keys - MOST_ROWS + from
        backend.enqueue('attention', {
          ...{ type, q: place(backend, bytesOf(given)), k, v, out, queries, keys: firstPosition + queries },
          ...{ heads, kvHeads, headDim, positionStride: 1, headStride: keys, scale: 0.2 },
          ...{ causal: 1, firstPosition },
        })
        return backend.read(out, queries * width * 4)
      }
      await expectRowBits(width * 4, run)
    },
  }
}

/** @param run The bytes of `count` rows from `from` on. */
async function expectRowBits(
  rowBytes: number,
  run: (from: number, count: number) => Promise<Uint8Array>,
): Promise<void> {
  const single: Uint8Array[] = []
  for (let row = 0; row < MOST_ROWS; row++) single.push(await run(row, 1))
  for (const count of ROW_COUNTS) {
    const from = MOST_ROWS - count
    const together = await run(from, count)
    for (let row = 0; row < count; row++) {
      const found = together.subarray(row * rowBytes, (row + 1) * rowBytes)
      const differing = found.findIndex((byte, at) => byte !== single[from + row]![at])
      expectEqual(`first byte that differs in row ${row} of ${count}`, differing, -1)
    }
  }
}

function quantized(x: Float32Array, rows: number, columns: number): Uint8Array {
  const bytes = new Uint8Array(quantizedByteLength(rows, columns))
  quantizeInto(bytes, x, rows, columns)
  return bytes
}

function place(backend: Backend, bytes: Uint8Array): BufferRef {
  const buffer = backend.alloc(bytes.length)
  backend.write(buffer, bytes)
  return buffer
}

export const ROW_BITS_CASES: readonly BehaviourCase[] = [
  ...ALL_TYPES.map(matmulCase),
  ...CACHE_TYPES.flatMap((type) => [
    attentionCase(type, 3, 1, 64),
    attentionCase(type, 4, 4, 72),
    attentionCase(type, 10, 2, 20),
  ]),
]
