import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { createMemorySource } from '../../../shared/memory-source.ts'
import { ipaOfArpabet } from './arpabet.ts'
import type { EnglishPhonemes } from './english.ts'
import { type GuessSounds, loadLetterNetwork } from './letter-network.ts'
import { loadEnglish } from './load-phonemes.ts'

const ROOT = new URL('../../../../', import.meta.url)
const read = (path: string) => new Uint8Array(readFileSync(new URL(path, ROOT)))

let guess: GuessSounds
let english: EnglishPhonemes
beforeAll(async () => {
  guess = await loadLetterNetwork(createMemorySource('letters', read('models/letters/model.safetensors')))
  english = await loadEnglish(guess)
})

describe('the network for unknown words', () => {
  const words: Record<string, string> = JSON.parse(
    readFileSync(new URL('test/golden/letters/words.json', ROOT), 'utf8'),
  )

  it.each(Object.entries(words))('says of %s what the published one says', (word, sounds) => {
    expect(guess(word)).toBe(sounds)
  })

  it('ends', () => {
    expect(guess('x'.repeat(10_000)).split(' ').length).toBeLessThanOrEqual(20)
    expect(guess('')).toEqual(expect.any(String))
  })

  it('refuses other files', async () => {
    const other = createMemorySource('tiny', read('models/tiny/model.safetensors'))
    await expect(loadLetterNetwork(other)).rejects.toMatchObject({ code: 'model/missing-tensor' })
  })
})

describe('sounds in IPA', () => {
  it.each([
    ['HH AH0 L OW1', 'həlˈoʊ'],
    ['D IH0 S K R AY1 B', 'dɪskɹˈaɪb'],
    ['W AO1 T ER0', 'wˈɔːɾɚ'],
    ['B AA1 T AH0 L', 'bˈɑːɾəl'],
    ['P AA1 R T IY0', 'pˈɑːɹɾi'],
    ['AH0 T AE1 K', 'ətˈæk'],
    ['W ER1 D', 'wˈɜːd'],
    ['CH ER1 CH Y AA2 R D', 'tʃˈɜːtʃjˌɑːɹd'],
    ['QQ B', 'b'],
    ['', ''],
  ])('%s is %s', (sounds, ipa) => {
    expect(ipaOfArpabet(sounds)).toBe(ipa)
  })
})

describe('English text', () => {
  it.each([
    ['There is a dog on the left.', 'ðɛɹ ɪz ə dˈɔːɡ ɑːn ðə lˈɛft.'],
    ['Please describe what you see!', 'plˈiːz dɪskɹˈaɪb wʌt juː sˈiː!'],
    ["It's the fox's café, isn't it?", 'ˈɪts ðə fˈɑːksəz kəfˈeɪ, ˈɪzənt ɪt?'],
    ['USB and HTML', 'jˈuːˈɛsbˈiː ənd ˈeɪtʃtˈiːˈɛmˈɛl'],
    ['NASA', 'nˈæsə'],
    ['a selfie', 'ə sˈɛlfˌiː'],
    ['“Onsight’s”', '“ˈɑːnsˌaɪts”'],
    ['constructor', 'kənstɹˈʌktɚ'],
    ['你好 2', '你好 2'],
    ['', ''],
  ])('%s', (text, ipa) => {
    expect(english.transcribe(text)).toBe(ipa)
  })
})
