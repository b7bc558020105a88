/** Length and state of a piece of text that is being put together. */
import { isHan, isSpace, isSpeakable } from './scripts.ts'

/** A Han character takes about as long to say as so many Latin ones. */
const HAN_LENGTH = 2.5
const OPENERS = '([{“「『《（【'
const CLOSERS = ')]}”」』》）】'

export class PieceMeasure {
  #length = 0
  #isInWord = false
  #depth = 0
  #isQuoted = false
  /** Words, also the one that is not finished. */
  words = 0
  han = 0
  /** Whether a letter or digit was seen. */
  isSpeakable = false

  add(character: string): void {
    this.#length = this.lengthWith(character)
    this.isSpeakable ||= isSpeakable(character)
    if (isHan(character)) this.han++
    const isInWord = !isSpace(character) && !isHan(character)
    if (isInWord && !this.#isInWord && isSpeakable(character)) this.words++
    this.#isInWord = isInWord && (this.#isInWord || isSpeakable(character))
    if (character === '"') this.#isQuoted = !this.#isQuoted
    else if (OPENERS.includes(character)) this.#depth++
    else if (CLOSERS.includes(character)) this.#depth = Math.max(0, this.#depth - 1)
  }

  lengthWith(character: string): number {
    return this.#length + (isHan(character) ? HAN_LENGTH : 1)
  }

  /** Inside quotes or brackets. */
  get isNested(): boolean {
    return this.#depth > 0 || this.#isQuoted
  }

  /** Whether this is the last closing quote or bracket. */
  isClosedBy(character: string): boolean {
    if (character === '"') return this.#isQuoted && this.#depth === 0
    return this.#depth === 1 && !this.#isQuoted && CLOSERS.includes(character)
  }
}
