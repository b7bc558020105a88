import { describe, expect, it } from 'vitest'
import { cardOfGguf, parseModelCard } from './model-card.ts'

describe('parseModelCard', () => {
  it.each([
    ['---\nlicense: apache-2.0\nlanguage:\n- en\n- zh\n---\n# Model', 'apache-2.0', ['en', 'zh']],
    ['---\r\nlicense: "mit"\r\nlanguage: [en, de]\r\n---', 'mit', ['en', 'de']],
    ['---\nlicense: other\nlicense_name: my-licence\nlanguage: en\ntags:\n- x\n---\n', 'my-licence', ['en']],
    ['---\ntags:\n- a\n---\nlicense: not-here', undefined, []],
    ['# No front matter\n---\nlicense: mit\n---', undefined, []],
    ['', undefined, []],
    [undefined, undefined, []],
  ])('%j', (readme, licence, languages) => {
    expect(parseModelCard(readme)).toEqual({ licence, languages })
  })
})

it('cardOfGguf reads the metadata', () => {
  const metadata = new Map<string, string | readonly string[]>([
    ['general.license', 'apache-2.0'],
    ['general.languages', ['en', 'fr']],
  ])
  expect(cardOfGguf({ metadata })).toEqual({ licence: 'apache-2.0', languages: ['en', 'fr'] })
  expect(cardOfGguf({ metadata: new Map() })).toEqual({ licence: undefined, languages: [] })
})
