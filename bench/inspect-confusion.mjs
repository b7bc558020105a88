// How well the verdict on single matrices separates trained from initialised ones, at each precision. Prints the table of
// docs/inspect.md.
//
//   python3 test/golden/inspect/make_matrices.py OUT --wheels WHEELS   (see there)
//   npm run build && node bench/inspect-confusion.mjs OUT [--list]

import { loadSafetensors } from '../dist/formats/safetensors/load-safetensors.js'
import { openFile } from '../dist/host/node/file-source.js'
import { judgeMatrix } from '../dist/inspect/judge-matrix.js'
import { readMatrixSample } from '../dist/inspect/matrix-sample.js'
import { decodeBlocks } from '../dist/quant/decode.js'
import { encodeBlocks } from '../dist/quant/encode.js'
import { createMemorySource } from '../dist/shared/memory-source.js'

const [folder, ...flags] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node bench/inspect-confusion.mjs FOLDER [--list]')
  process.exit(2)
}
const listsAll = flags.includes('--list')
/** @typedef {import('../dist/quant/tensor-types.js').TensorType} TensorType */
/** @type {readonly TensorType[]} */
const PRECISIONS = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0']
const LOOKS = ['trained', 'random', 'orthogonal', 'constant', 'unjudged']

/** @param {import('../dist/formats/tensor-info.js').TensorInfo} tensor @param {TensorType} type */
async function requantize(tensor, type) {
  const elements = tensor.byteLength / 4
  const bytes = new Uint8Array(tensor.byteLength)
  await tensor.source.readInto(bytes, tensor.byteOffset)
  const values = new Float32Array(elements)
  decodeBlocks('F32', bytes, values)
  const data = encodeBlocks(type, values)
  return {
    ...tensor,
    type,
    byteOffset: 0,
    byteLength: data.byteLength,
    source: createMemorySource(tensor.name, data),
  }
}

/** @type {Map<string, Map<string, number>>} */
const table = new Map()
/** @type {Map<string, { truth: string, z: number, name: string }[]>} */
const extremes = new Map()
for (const truth of ['initialized', 'trained']) {
  const source = await openFile(`${folder}/${truth}.safetensors`)
  for (const tensor of (await loadSafetensors(source)).values()) {
    for (const precision of PRECISIONS) {
      if (precision.startsWith('Q') && (tensor.shape[1] ?? 0) % 32 !== 0) continue
      const sample = await readMatrixSample(await requantize(tensor, precision))
      const { looks, z, statistic } = judgeMatrix(sample)
      // `initialized.normal-0.02.64x64.0` or `trained.tiny.<tensor>`
      const [, kind] = /^[a-z]+\.(normal-0\.02|[^.]+)\./.exec(tensor.name) ?? []
      const group = `${truth}, ${kind}`
      for (const row of [group, `${truth} at ${precision}`]) {
        const counts = table.get(row) ?? new Map()
        counts.set(looks, (counts.get(looks) ?? 0) + 1)
        table.set(row, counts)
      }
      const isWrong = (truth === 'trained') !== (looks === 'trained') && looks !== 'unjudged'
      if (isWrong || listsAll)
        console.log(
          `${precision} ${tensor.name} [${tensor.shape.join(', ')}] ${looks} z ${z.toFixed(1)} (${statistic})`,
        )
      const list = extremes.get(truth) ?? []
      if (looks === 'trained' || looks === 'random')
        list.push({ truth, z, name: `${precision} ${tensor.name}` })
      extremes.set(truth, list)
    }
  }
  await source.close()
}
for (const [truth, list] of extremes) {
  list.sort((a, b) => a.z - b.z)
  const shown = truth === 'trained' ? list.slice(0, 10) : list.slice(-5)
  console.log(`${truth}: ${shown.map(({ z, name }) => `${z.toFixed(2)} ${name}`).join('; ')}`)
}
console.log(`| matrices | ${LOOKS.join(' | ')} |\n| --- |${LOOKS.map(() => ' ---: |').join('')}`)
for (const [row, counts] of table)
  console.log(`| ${row} | ${LOOKS.map((looks) => counts.get(looks) ?? 0).join(' | ')} |`)
