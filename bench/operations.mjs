// How fast single operations are, at the shapes of the models, on one thread: processor time, so that other work on the
// machine disturbs little. Multiplications are compared with what the float kernel reaches at its best shape, moves with
// `copyRows`.
//
//   npm run build && node bench/operations.mjs [part of a name]

import { quantizedByteLength } from '../dist/backend/ops.js'
import { createWasmBackend } from '../dist/backend/wasm/wasm-backend.js'
import { createNodeWorkerHost } from '../dist/host/node/worker-host.js'

/** @typedef {import('../dist/backend/ops.js').OpName} OpName */
/** @typedef {{ readonly op: OpName, readonly args: Record<string, unknown>, readonly giga: number, readonly unit: 'GMAC' | 'GB' }} Work */

const ROUNDS = 9
const backend = await createWasmBackend(createNodeWorkerHost(), { threads: 1 })
const filter = process.argv[2] ?? ''

/** Random numbers around 0. @param {number} length */
function floats(length) {
  const buffer = backend.alloc(length * 4)
  const values = new Float32Array(length)
  for (let i = 0; i < length; i++) values[i] = Math.random() * 2 - 1
  backend.write(buffer, new Uint8Array(values.buffer))
  return buffer
}

/** @param {number} m @param {number} n @param {number} k @returns {Work} */
function matmulFloat(m, n, k) {
  const matrix = floats(Math.ceil(n / 8) * 8 * k)
  const args = {
    type: 'F32',
    x: floats(m * k),
    matrix,
    bias: floats(n + 8),
    out: floats(m * n),
    m,
    n,
    k,
    accumulate: 0,
  }
  return { op: 'matmulFloat', args, giga: (m * n * k) / 1e9, unit: 'GMAC' }
}

/** @param {number} m @param {number} n @param {number} k @param {'Q8_0' | 'Q4_0'} type @returns {Work} */
function matmulQuantized(m, n, k, type = 'Q8_0') {
  const rows = floats(n * k)
  const raw = backend.alloc(n * (k / 32) * 34)
  backend.enqueue('encodeRows', { type, source: rows, out: raw, rows: n, columns: k })
  const matrix = backend.alloc(backend.matrixByteLength(type, n, k))
  backend.enqueue('packRows', { type, source: raw, matrix, rows: n, columns: k, firstRow: 0 })
  const x = backend.alloc(quantizedByteLength(m, k))
  backend.enqueue('quantizeRows', { x: floats(m * k), out: x, rows: m, columns: k })
  const args = { type, x, matrix, bias: floats(n + 8), out: floats(m * n), m, n, k, accumulate: 0 }
  return { op: 'matmulQuantized', args, giga: (m * n * k) / 1e9, unit: 'GMAC' }
}

/** @param {number} queries @param {number} keys @param {number} heads @param {number} headDim @returns {Work} */
function attention(queries, keys, heads, headDim) {
  const columns = heads * headDim
  const args = {
    ...{ type: 'F32', q: floats(queries * columns), k: floats(keys * columns), v: floats(keys * columns) },
    ...{
      out: floats(queries * columns),
      queries,
      keys,
      heads,
      kvHeads: heads,
      headDim,
      positionStride: heads,
    },
    ...{ headStride: 1, scale: headDim ** -0.5, causal: 0, firstPosition: 0 },
  }
  return { op: 'attention', args, giga: (2 * queries * keys * columns) / 1e9, unit: 'GMAC' }
}

/** @param {number} rows @param {number} heads @param {number} headDim @param {number} left @param {number} right @param {number} reach @returns {Work} */
function localAttention(rows, heads, headDim, left, right, reach) {
  const columns = heads * headDim
  const keys = left + right === 0 ? rows : left + right - 1
  const table = reach > 0 ? floats((2 * reach + 1) * headDim) : undefined
  const args = {
    ...{
      q: floats(rows * columns),
      k: floats(rows * columns),
      v: floats(rows * columns),
      out: floats(rows * columns),
    },
    ...{
      relativeKeys: table,
      relativeValues: table,
      rows,
      heads,
      headDim,
      scale: headDim ** -0.5,
      left,
      right,
      reach,
    },
  }
  return { op: 'localAttention', args, giga: (2 * rows * keys * columns) / 1e9, unit: 'GMAC' }
}

/** @param {number} rows @param {number} columns @param {number} kernel @param {number} dilation @param {number} stride @returns {Work} */
function unfoldRows(rows, columns, kernel, dilation = 1, stride = 1) {
  const outRows = Math.floor(rows / stride)
  const padding = ((kernel - 1) * dilation) >> 1
  const args = {
    ...{
      x: floats(rows * columns),
      out: floats(outRows * kernel * columns),
      rows,
      columns,
      outRows,
      kernel,
      stride,
    },
    ...{ dilation, padding, firstRow: 0 },
  }
  return { op: 'unfoldRows', args, giga: (outRows * kernel * columns * 8) / 1e9, unit: 'GB' }
}

/** @param {number} rows @param {number} columns @param {number} kernel @param {number} stride @returns {Work} */
function foldRows(rows, columns, kernel, stride) {
  const outRows = rows * stride
  const args = {
    ...{
      x: floats(rows * kernel * columns),
      bias: floats(columns),
      out: floats(outRows * columns),
      rows,
      columns,
    },
    ...{ outRows, kernel, stride, padding: (kernel - stride) >> 1, firstRow: 0, firstInput: 0 },
  }
  return { op: 'foldRows', args, giga: ((rows * kernel + outRows) * columns * 4) / 1e9, unit: 'GB' }
}

/** @param {number} rows @param {number} columns @param {number} kernel @param {number} dilation @returns {Work} */
function depthwiseConv(rows, columns, kernel, dilation) {
  const args = {
    ...{ x: floats(rows * columns), weight: floats(kernel * columns), bias: floats(columns) },
    ...{
      out: floats(rows * columns),
      rows,
      columns,
      kernel,
      dilation,
      padding: ((kernel - 1) * dilation) >> 1,
    },
  }
  return { op: 'depthwiseConv', args, giga: (rows * columns * kernel) / 1e9, unit: 'GMAC' }
}

/** @param {OpName} op @param {number} rows @param {number} columns @param {Record<string, unknown>} rest @param {number} passes @returns {Work} */
function rowwise(op, rows, columns, rest, passes = 2) {
  return {
    op,
    args: { x: floats(rows * columns), rows, columns, ...rest },
    giga: (rows * columns * 4 * passes) / 1e9,
    unit: 'GB',
  }
}

/** @type {Record<string, () => Work>} */
const WORKS = {
  'copyRows 256 x 1024': () =>
    rowwise('copyRows', 256, 1024, { source: floats(256 * 1024), out: floats(256 * 1024) }),
  'copyRows 8192 x 1024': () =>
    rowwise('copyRows', 8192, 1024, { source: floats(8192 * 1024), out: floats(8192 * 1024) }),
  'float 1500 x 512 x 512': () => matmulFloat(1500, 512, 512),
  'float 256 x 2048 x 512': () => matmulFloat(256, 2048, 512),
  'float 256 x 512 x 2048': () => matmulFloat(256, 512, 2048),
  'float conv 512 x 512 x 240 (Whisper conv1)': () => matmulFloat(512, 512, 240),
  'float conv 512 x 512 x 1536 (Whisper conv2)': () => matmulFloat(512, 512, 1536),
  'float conv 512 x 128 x 896 (HiFi-GAN 128, k7)': () => matmulFloat(512, 128, 896),
  'float conv 512 x 64 x 320 (HiFi-GAN 64, k5)': () => matmulFloat(512, 64, 320),
  'float conv 1024 x 32 x 96 (HiFi-GAN 32, k3)': () => matmulFloat(1024, 32, 96),
  'float conv 1024 x 32 x 224 (HiFi-GAN 32, k7)': () => matmulFloat(1024, 32, 224),
  'float conv 1024 x 1 x 224 (HiFi-GAN end)': () => matmulFloat(1024, 1, 224),
  'float 1 x 2048 x 512': () => matmulFloat(1, 2048, 512),
  'int8 1500 x 512 x 512': () => matmulQuantized(1500, 512, 512),
  'int8 256 x 2048 x 512': () => matmulQuantized(256, 2048, 512),
  'int8 256 x 512 x 2048': () => matmulQuantized(256, 512, 2048),
  'int8 1 x 512 x 512': () => matmulQuantized(1, 512, 512),
  'int8 1 x 51872 x 512 (Whisper head)': () => matmulQuantized(1, 51872, 512),
  'int4 1500 x 512 x 512': () => matmulQuantized(1500, 512, 512, 'Q4_0'),
  'quantizeRows 1500 x 512': () =>
    rowwise('quantizeRows', 1500, 512, { out: backend.alloc(quantizedByteLength(1500, 512)) }, 1.25),
  'attention 1500, 8 heads of 64': () => attention(1500, 1500, 8, 64),
  'attention 256, 8 heads of 64': () => attention(256, 256, 8, 64),
  'attention 416, 8 heads of 52': () => attention(416, 416, 8, 52),
  'attention 1 x 1500, 8 heads of 64': () => attention(1, 1500, 8, 64),
  'local attention 300, 2 heads of 96, reach 4': () => localAttention(300, 2, 96, 0, 0, 4),
  'local attention 500, 8 heads of 40, 16 back 4 on': () => localAttention(500, 8, 40, 16, 4, 0),
  'unfold 4096 x 32, k7': () => unfoldRows(4096, 32, 7),
  'unfold 4096 x 32, k7, dilation 3': () => unfoldRows(4096, 32, 7, 3),
  'unfold 3000 x 80, k3': () => unfoldRows(3000, 80, 3),
  'fold 256 x 128, k16 stride 8': () => foldRows(256, 128, 16, 8),
  'fold 4096 x 32, k8 stride 4': () => foldRows(4096, 32, 8, 4),
  'depthwise 300 x 192, k3 dilation 3': () => depthwiseConv(300, 192, 3, 3),
  'groupNorm 7500 x 416, 1 group': () =>
    rowwise('groupNorm', 7500, 416, {
      weight: floats(416),
      bias: floats(416),
      out: floats(7500 * 416),
      groups: 1,
      epsilon: 1e-5,
    }),
  'groupNorm 1000 x 416, 1 group': () =>
    rowwise('groupNorm', 1000, 416, {
      weight: floats(416),
      bias: floats(416),
      out: floats(1000 * 416),
      groups: 1,
      epsilon: 1e-5,
    }),
  'layerNorm 1500 x 512': () =>
    rowwise('layerNorm', 1500, 512, {
      weight: floats(512),
      bias: floats(512),
      out: floats(1500 * 512),
      epsilon: 1e-5,
    }),
  'relu 256 x 2048': () => rowwise('activate', 256, 2048, { kind: 3 }),
  'geluErf 256 x 2048': () => rowwise('activate', 256, 2048, { kind: 2 }),
  'geluTanh 256 x 2048': () => rowwise('activate', 256, 2048, { kind: 0 }),
  'tanh 256 x 2048': () => rowwise('activate', 256, 2048, { kind: 4 }),
  'leakyRelu 256 x 2048': () => rowwise('leakyRelu', 256, 2048, { slope: 0.1 }),
  'tanhSigmoidMul 1000 x 192': () => ({
    op: 'tanhSigmoidMul',
    args: { x: floats(1000 * 384), out: floats(1000 * 192), rows: 1000, columns: 192 },
    giga: (1000 * 192 * 12) / 1e9,
    unit: 'GB',
  }),
  'lstmCell 1 x 128': () => ({
    op: 'lstmCell',
    args: { gates: floats(512), state: floats(256), rows: 1, hidden: 128 },
    giga: (128 * 28) / 1e9,
    unit: 'GB',
  }),
}

/** Processor time of one call in ms. @param {Work} work */
async function measure({ op, args }) {
  const once = () => backend.enqueue(op, /** @type {never} */ (args))
  const timed = async (/** @type {number} */ calls) => {
    const start = process.cpuUsage()
    for (let i = 0; i < calls; i++) once()
    await backend.flush()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000 / calls
  }
  await timed(3)
  const calls = Math.max(1, Math.min(2000, Math.ceil(60 / (await timed(3)))))
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, await timed(calls))
  return best
}

console.log(`${backend.info.name}\n\n| operation | one call | rate |\n| --- | --- | --- |`)
for (const [name, make] of Object.entries(WORKS)) {
  if (!name.includes(filter)) continue
  const work = make()
  await backend.flush()
  const ms = await measure(work)
  const rate = (work.giga / ms) * 1000
  console.log(`| ${name} | ${ms.toPrecision(3)} ms | ${rate.toFixed(1)} ${work.unit}/s |`)
  const buffers = Object.values(work.args).filter((value) => typeof value === 'object' && value !== null)
  for (const buffer of buffers) backend.free(/** @type {never} */ (buffer))
}
await backend.dispose()
