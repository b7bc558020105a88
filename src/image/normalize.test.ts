import { expect, it } from 'vitest'
import { vectors } from '../../test/golden/image/vectors.ts'
import { normalizationTable, normalizeInto } from './normalize.ts'
import { parsePreprocessorConfig } from './preprocessor-config.ts'
import { RgbImage } from './rgb-image.ts'

it.each(vectors.normalizations)('every level with $config has the bits of Transformers 5.18', (expected) => {
  const value = { image_processor_type: 'CLIPImageProcessor', ...expected.config }
  const { normalization } = parsePreprocessorConfig({ preprocessor: { name: 'test', value } })
  const table = normalizationTable(normalization)
  expect(Buffer.from(table.buffer).toString('base64')).toBe(expected.base64)
})

it('writes planes of red, green and blue', () => {
  const table = normalizationTable({ rescaleFactor: 1, mean: [0, 10, 0], std: [1, 1, 2] })
  const target = new Float32Array(6)
  normalizeInto(new RgbImage(2, 1, Uint8Array.of(1, 2, 3, 4, 5, 6)), table, target)
  expect([...target]).toEqual([1, 4, -8, -5, 1.5, 3])
})
