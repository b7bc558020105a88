/**
 * Cuts a stream of text into pieces to be said one after the other: sentences, the first piece earlier. Pieces put
 * together are the text, character by character, and do not depend on how the stream was split.
 */
import { findPause, findPieceBreak } from './piece-break.ts'
import { PieceMeasure } from './piece-measure.ts'
import { isHan, isSpace, isSpeakable } from './scripts.ts'
import { findSentenceEnd } from './sentence-end.ts'
import { findWordBreak } from './word-boundary.ts'

export interface CutterOptions {
  /**
   * Longest piece in Latin characters; a Han character counts as 2.5. Default 180, about 12 s of speech: some platform
   * voices fall silent after 14 s without saying so.
   */
  readonly maxLength?: number
  /** Cut the first piece at a comma or after some words, so that speech begins early. Default true. */
  readonly startsEarly?: boolean
}

const MAX_LENGTH = 180
/** Of a first piece: at a comma from `least` on, before a small word from `some`, anywhere at `most`. */
const FIRST_WORDS = { least: 3, some: 8, most: 12 }
const FIRST_HAN = { least: 4, most: 18 }
const WIDE_COMMAS = '，、：'
const NARROW_COMMAS = ',;:—–'
/** A phrase often begins with one of these. */
const SMALL_WORD =
  /^(?:and|but|or|so|that|which|who|where|while|when|with|without|in|into|on|of|to|from|at|by|for|near|next|behind|beside|because|if|than|as)$/i

/** The end of a text without words that belong to what follows. */
const DANGLING =
  /(?<=\s)(?:(?:an?|the|my|your|his|her|its|their|our|this|that|of|in|on|to|at|by|for|with|from|and|or)\s)*$/i

/** An index behind the piece, or why there is none. */
type PieceEnd = number | 'inside' | 'unknown'

export class SentenceCutter {
  readonly #maxLength: number
  #text = ''
  /** Of a surrogate pair whose other half is yet to come. */
  #half = ''
  /** Everything before was looked at. */
  #at = 0
  #isFirst: boolean
  #measure = new PieceMeasure()

  constructor({ maxLength = MAX_LENGTH, startsEarly = true }: CutterOptions = {}) {
    this.#maxLength = maxLength
    this.#isFirst = startsEarly
  }

  /** @returns Pieces that are certain, in order; often none. */
  push(text: string): string[] {
    const added = this.#half + text
    this.#half = /[\uD800-\uDBFF]$/.exec(added)?.[0] ?? ''
    this.#text += added.slice(0, added.length - this.#half.length)
    return this.#cut(false)
  }

  /** The end of the text: what is left. */
  finish(): string[] {
    this.#text += this.#half
    const pieces = this.#cut(true)
    if (this.#text !== '') pieces.push(this.#take(this.#text.length))
    return pieces
  }

  /** For a stream that pauses: what can be said now without breaking a word or a number. */
  flush(): string[] {
    const end = findPause(this.#text)
    return isSpeakable(this.#text.slice(0, end)) ? [this.#take(end)] : []
  }

  #cut(isComplete: boolean): string[] {
    const pieces: string[] = []
    while (this.#at < this.#text.length) {
      const end = this.#findEnd(isComplete)
      if (end === 'unknown') break
      if (end === 'inside') {
        this.#measure.add(this.#text.charAt(this.#at))
        this.#at++
      } else pieces.push(this.#take(end))
    }
    return pieces
  }

  #take(end: number): string {
    const piece = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    this.#at = 0
    this.#measure = new PieceMeasure()
    if (isSpeakable(piece)) this.#isFirst = false
    return piece
  }

  /** Where the piece ends, looking at the character at `#at`. */
  #findEnd(isComplete: boolean): PieceEnd {
    const measure = this.#measure
    const text = this.#text
    const at = this.#at
    const character = text.charAt(at)
    if (measure.lengthWith(character) > this.#maxLength) return findPieceBreak(text.slice(0, at))
    if (!measure.isSpeakable) return 'inside'
    if (character === '\n') return at + 1
    if (!measure.isNested || measure.isClosedBy(character)) {
      const end = findSentenceEnd(text, at, isComplete)
      if (end !== 'inside') return end
    }
    return this.#isFirst ? this.#findEarlyEnd(character, isComplete) : 'inside'
  }

  #findEarlyEnd(character: string, isComplete: boolean): PieceEnd {
    const { words, han } = this.#measure
    const text = this.#text
    const next = text[this.#at + 1]
    const isLongEnough = words >= FIRST_WORDS.least || han >= FIRST_HAN.least
    if (WIDE_COMMAS.includes(character)) return isLongEnough ? this.#at + 1 : 'inside'
    if (NARROW_COMMAS.includes(character) && isLongEnough) {
      if (next === undefined) return isComplete ? 'inside' : 'unknown'
      // Not inside "1,000" and "10:30".
      return isSpace(next) || isHan(next) ? this.#at + 1 : 'inside'
    }
    if (isHan(character) && han + 1 >= FIRST_HAN.most) return findWordBreak(text, this.#at + 1, isComplete)
    if (!isSpace(character) || words < FIRST_WORDS.some) return 'inside'
    if (words >= FIRST_WORDS.most) return text.slice(0, this.#at + 1).search(DANGLING)
    const [, word, after] = /^\s+(\S+)(\s?)/.exec(text.slice(this.#at)) ?? []
    if (!after && !isComplete) return 'unknown'
    return word !== undefined && SMALL_WORD.test(word) ? this.#at + 1 : 'inside'
  }
}
