import { expect, test } from 'vitest'
import { encodeBlocks } from '../../quant/encode.ts'
import { runFloatOp, runOp } from './run-op.case.ts'

test('encodeRows fills each row with zeros up to a whole block', async () => {
  const source = Float32Array.from({ length: 2 * 33 }, (_, i) => i - 20)
  const found = await runOp(
    'encodeRows',
    { type: 'Q8_0', source, out: new Uint8Array(2 * 2 * 34), rows: 2, columns: 33 },
    'out',
  )
  const filled = new Float32Array(2 * 64)
  filled.set(source.subarray(0, 33), 0)
  filled.set(source.subarray(33), 64)
  expect([...found]).toEqual([...encodeBlocks('Q8_0', filled)])
})

test('gatherRows decodes the rows that are asked for, without the filling', async () => {
  const rows = [1, 2, 3].map((row) => new Float32Array(64).fill(127 * row, 0, 33))
  const matrix = encodeBlocks('Q8_0', Float32Array.from(rows.flatMap((row) => [...row])))
  const found = await runFloatOp(
    'gatherRows',
    { type: 'Q8_0', matrix, ids: Int32Array.of(2, 0), out: new Float32Array(66), count: 2, columns: 33 },
    'out',
  )
  expect([...found]).toEqual([...new Array(33).fill(381), ...new Array(33).fill(127)])
})

test.each([-1, 3])('gatherRows refuses row %i of 3', async (id) => {
  const args = { type: 'F32', matrix: new Float32Array(6), ids: Int32Array.of(id), out: new Float32Array(2) }
  await expect(runOp('gatherRows', { ...args, count: 1, columns: 2 }, 'out')).rejects.toMatchObject({
    code: 'backend/out-of-bounds',
    message: `gatherRows: "ids" asks for row ${id}, but "matrix" has at most 3 rows.`,
  })
})

test('packRows puts rows behind those that are there', async () => {
  const matrix = new Uint8Array(10 * 2 * 2).fill(9)
  const source = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
  const found = await runOp(
    'packRows',
    { type: 'F16', source, matrix, rows: 2, columns: 2, firstRow: 8 },
    'matrix',
  )
  expect([...found]).toEqual([...new Array(32).fill(9), 1, 2, 3, 4, 5, 6, 7, 8])
})

test('decodeRows of bfloat16', async () => {
  const source = Uint8Array.of(0x80, 0x3f, 0x00, 0xc0)
  const found = await runFloatOp(
    'decodeRows',
    { type: 'BF16', source, out: new Float32Array(2), rows: 1, columns: 2 },
    'out',
  )
  expect([...found]).toEqual([1, -2])
})
