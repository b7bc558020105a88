/** Statistics against NumPy, and the verdict on matrices whose history is known, at every precision. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readTensors } from '../../test/support/read-tensors.ts'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { decodeBlocks } from '../quant/decode.ts'
import { encodeBlocks } from '../quant/encode.ts'
import type { TensorType } from '../quant/tensor-types.ts'
import { judgeMatrix, type MatrixLooks } from './judge-matrix.ts'
import type { MatrixSample } from './matrix-sample.ts'
import { measureSpreads, measureWeights, type WeightStatistics } from './weight-statistics.ts'

const FOLDER = new URL('../../test/golden/inspect/', import.meta.url)
const SAMPLES = readTensors(new URL('samples.safetensors', FOLDER).pathname)
type Expected = Record<keyof Omit<WeightStatistics, 'rows' | 'columns'>, number | [number, number]>
const EXPECTED = JSON.parse(readFileSync(new URL('statistics.json', FOLDER), 'utf8')) as Record<
  string,
  Expected
>

function sampleOf(name: string): MatrixSample {
  const { shape, data } = SAMPLES.get(name)!
  return { rows: shape[0]!, totalRows: shape[0]!, columns: shape[1]!, values: data }
}

function atPrecision(sample: MatrixSample, type: TensorType): MatrixSample {
  const values = new Float32Array(sample.values.length)
  decodeBlocks(type, encodeBlocks(type, sample.values), values)
  return { ...sample, values }
}

describe('measureWeights equals NumPy', () => {
  it.each(Object.keys(EXPECTED))('%s', (name) => {
    const measured = measureWeights(measureSpreads(sampleOf(name))!)
    const expected = EXPECTED[name]!
    for (const key of ['std', 'kurtosis'] as const)
      expect(measured[key] / (expected[key] as number)).toBeCloseTo(1, 5)
    for (const key of ['rowOverlap', 'columnOverlap', 'rowSpread', 'columnSpread'] as const) {
      const [ratio, z] = expected[key] as [number, number]
      expect(measured[key].ratio).toBeCloseTo(ratio, 4)
      expect(measured[key].z).toBeCloseTo(z, 1)
    }
    // Power iteration ends before the edge of a spectrum without a gap: at most 2% below, never above.
    const [edge] = expected.edge as [number, number]
    expect(measured.edge.ratio / edge).toBeLessThan(1.0001)
    expect(measured.edge.ratio / edge).toBeGreaterThan(0.98)
  })
})

const LOOKS: Readonly<Record<string, MatrixLooks>> = {
  'initialized.constant': 'constant',
  'initialized.zero': 'constant',
  'initialized.identity': 'orthogonal',
  'initialized.orthogonal': 'orthogonal',
  'initialized.': 'random',
  // Published with sentence embeddings, which do not use it; it was never trained.
  'trained.minilm.pooler': 'random',
  'trained.': 'trained',
}

const PRECISIONS = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0'] as const

describe.each(PRECISIONS)('judgeMatrix at %s', (precision) => {
  it.each([...SAMPLES.keys()])('%s', (name) => {
    const sample = sampleOf(name)
    if (precision.startsWith('Q') && sample.columns % 32 !== 0) return
    const expected = Object.entries(LOOKS).find(([start]) => name.startsWith(start))![1]
    expect(judgeMatrix(atPrecision(sample, precision)).looks).toBe(expected)
  })
})

function random(rows: number, columns: number, seed: number, totalRows = rows): MatrixSample {
  const generator = new SeededRandom(seed)
  return {
    rows,
    totalRows,
    columns,
    values: Float32Array.from({ length: rows * columns }, () => generator.normal()),
  }
}

describe('judgeMatrix', () => {
  it('names the initialiser', () => {
    expect(judgeMatrix(sampleOf('initialized.normal-0.02.96x128.0')).initializer).toBe(
      'normal, standard deviation 0.0201',
    )
    expect(judgeMatrix(sampleOf('initialized.uniform.96x128.0')).initializer).toMatch(
      /^uniform up to 0\.(099|100)/,
    )
    expect(judgeMatrix(sampleOf('initialized.truncated-normal.96x128.0')).initializer).toMatch(
      /^truncated normal/,
    )
    expect(judgeMatrix(sampleOf('initialized.constant.96x128.0')).initializer).toMatch(/^all 0\.01/)
  })

  it('says nothing about small matrices and values that are no numbers', () => {
    expect(judgeMatrix(random(31, 500, 1)).looks).toBe('unjudged')
    const spoiled = random(64, 64, 2)
    spoiled.values[7] = Number.NaN
    expect(judgeMatrix(spoiled).looks).toBe('unjudged')
  })

  it('leaves rows of zeros out, as padding rows of embeddings are', () => {
    const padded = random(96, 64, 3)
    padded.values.fill(0, 0, 8 * 64)
    expect(judgeMatrix(padded).looks).toBe('random')
  })

  it('sees one direction that all rows share', () => {
    const sample = random(128, 128, 4)
    for (const index of sample.values.keys()) sample.values[index]! += 0.3
    const { looks, statistic } = judgeMatrix(sample)
    expect(looks).toBe('trained')
    expect(['edge', 'rowOverlap', 'columnOverlap']).toContain(statistic)
  })

  it('flags none of 200 random matrices of other sizes as trained', () => {
    const sizes = [
      [32, 32],
      [48, 200],
      [200, 40],
      [96, 96],
    ] as const
    for (let seed = 0; seed < 200; seed++) {
      const [rows, columns] = sizes[seed % sizes.length]!
      expect(judgeMatrix(random(rows, columns, seed + 100)).looks).toBe('random')
    }
  })
})
