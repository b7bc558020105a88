import { expect, it } from 'vitest'
import { noise, sha256, vectors } from '../../test/golden/image/vectors.ts'
import { completeSteps } from '../shared/steps.ts'
import { type ClipSettings, cropImage } from './clip.ts'
import { parsePreprocessorConfig } from './preprocessor-config.ts'
import { RgbImage } from './rgb-image.ts'

it.each(vectors.clip)('$size with $config equals Transformers 5.18 byte for byte', (expected) => {
  const value = { image_processor_type: 'CLIPImageProcessor', ...expected.config }
  const settings = parsePreprocessorConfig({ preprocessor: { name: 'test', value } }) as ClipSettings
  const frame = completeSteps(cropImage(new RgbImage(...expected.size, noise(...expected.size)), settings))
  expect([frame.width, frame.height]).toEqual([expected.width, expected.height])
  expect(sha256([frame.data])).toBe(expected.sha256)
})
