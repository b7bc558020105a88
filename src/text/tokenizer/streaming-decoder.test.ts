import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createTokenizerFromJson, type Tokenizer } from './tokenizer.ts'

const GOLDEN = new URL('../../../test/golden/text/', import.meta.url)

function load(rule: string): Tokenizer {
  const json: unknown = JSON.parse(readFileSync(new URL(`tokenizer-${rule}.json`, GOLDEN), 'utf8'))
  return createTokenizerFromJson(json, {}, `tokenizer-${rule}.json`)
}

/** Numerical Recipes' generator, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function stream(tokenizer: Tokenizer, ids: readonly number[], skipSpecialTokens: boolean): string[] {
  const decoder = tokenizer.createDecoder({ skipSpecialTokens })
  return [...ids.map((id) => decoder.push(id)), decoder.flush()]
}

/** The bytes of the tokens decoded in one go, without any streaming. */
function decodeAtOnce(tokenizer: Tokenizer, ids: readonly number[]): string {
  const alphabet = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
    alphabet.set(String.fromCharCode(printable ? byte : next++), byte)
  }
  const bytes = ids.flatMap((id) => {
    const token = tokenizer.idToToken(id) ?? ''
    return tokenizer.isSpecial(id) ? [] : [...token].map((character) => alphabet.get(character)!)
  })
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))
}

const TEXTS = ['👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽', '图里有几只猫？𠀀𠀁', 'plain words', '\uFEFFbom', 'x\u0301\u0302']

describe.each(['qwen2', 'smollm', 'sentence-piece'])('streaming %s', (rule) => {
  const tokenizer = load(rule)

  test('any sequence of tokens gives what decoding them at once gives', () => {
    const random = createRandom(7)
    for (let round = 0; round < 400; round++) {
      // Half the rounds draw from the single bytes, where broken characters are the rule.
      const below = round % 2 === 0 ? tokenizer.vocabSize : 262
      const ids = Array.from({ length: 1 + random(24) }, () => random(below))
      for (const skip of [true, false]) {
        expect(stream(tokenizer, ids, skip).join(''), String(ids)).toBe(
          tokenizer.decode(ids, { skipSpecialTokens: skip }),
        )
      }
      if (rule !== 'sentence-piece')
        expect(tokenizer.decode(ids), String(ids)).toBe(decodeAtOnce(tokenizer, ids))
    }
  })

  test('never gives half a character', () => {
    for (const text of TEXTS) {
      const pieces = stream(tokenizer, tokenizer.encode(text), true)
      expect(pieces.join('')).toBe(text)
      for (const piece of pieces) {
        expect(piece, text).not.toMatch(/[\uFFFD\p{Surrogate}]/u)
        expect(text.includes(piece)).toBe(true)
      }
    }
  })
})

describe('the end of a stream', () => {
  test('turns missing bytes into U+FFFD and starts afresh', () => {
    const tokenizer = load('qwen2')
    const [first = -1, second = -1] = ['ä', '½'].map((character) => tokenizer.tokenToId(character)) // bytes E4 BD
    const decoder = tokenizer.createDecoder()
    expect([decoder.push(first), decoder.push(second)]).toEqual(['', ''])
    expect(decoder.flush()).toBe('\uFFFD')
    expect(decoder.flush()).toBe('')
    expect(tokenizer.encode('a').map((id) => decoder.push(id))).toEqual(['a'])
  })

  test('a special token between the bytes of a character does not break it', () => {
    const tokenizer = load('smollm')
    const bytes = ['ä', '½', 'ł'].map((character) => tokenizer.tokenToId(character)!) // E4 BD A0 = 你
    const special = tokenizer.tokenToId('<|im_end|>')!
    expect(tokenizer.decode([bytes[0]!, special, bytes[1]!, bytes[2]!])).toBe('你')
    expect(tokenizer.decode([bytes[0]!, special, bytes[1]!, bytes[2]!], { skipSpecialTokens: false })).toBe(
      '\uFFFD<|im_end|>\uFFFD\uFFFD',
    )
  })

  test('the space in front of a SentencePiece text is dropped once', () => {
    const tokenizer = load('sentence-piece')
    const ids = tokenizer.encode('  a a')
    expect(tokenizer.decode(ids)).toBe('  a a')
    expect(tokenizer.idToToken(tokenizer.encode('a')[0]!)?.startsWith('▁')).toBe(true)
  })

  test('ids without a token add nothing', () => {
    expect(load('qwen2').decode([10 ** 6, -1, 0.5])).toBe('')
  })
})
