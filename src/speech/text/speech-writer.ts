/** Puts spoken text together: single spaces, no empty brackets, no doubled punctuation. */
import { isHan } from './scripts.ts'

/** English and Chinese for the same thing. */
export type SpokenWord = readonly [english: string, chinese: string]

/** No space goes before these. */
const CLINGING = /^[,.!?;:%)\]’”，。！？；：、）】》」』…]/
/** Said once, however often they are written. */
const NEVER_DOUBLED = '!?,;:！？。，、；：—'
const OPENERS = '([（【'
const CLOSERS = ')]）】'

export class SpeechWriter {
  readonly #isChinese: boolean | undefined
  #written = ''
  #last = ''
  #hasGap = false
  /** An opening bracket that is not written before something stands in it. */
  #opener = ''
  #hasHan = false
  /** After a Chinese word for a symbol. */
  #refusesGap = false

  /** @param isChinese Of the words for symbols; undefined: told by the text. */
  constructor(isChinese?: boolean) {
    this.#isChinese = isChinese
  }

  get speaksChinese(): boolean {
    return this.#isChinese ?? this.#hasHan
  }

  /** Text as it stands, without spaces at its ends. */
  write(text: string): void {
    if (text === '') return
    if (text.length === 1) {
      if (OPENERS.includes(text) && this.#opener === '') {
        this.#opener = text
        return
      }
      if (CLOSERS.includes(text) && this.#opener !== '') {
        this.#opener = ''
        return
      }
      if (text === this.#last && !this.#hasGap && NEVER_DOUBLED.includes(text)) return
    }
    const body = this.#opener + text
    this.#opener = ''
    this.#append(this.#hasGap && !CLINGING.test(body) ? ` ${body}` : body)
    this.#hasHan ||= isHan(body)
  }

  /** A word for a symbol, apart from what is around it. */
  say(word: SpokenWord): void {
    const text = word[this.speaksChinese ? 1 : 0]
    if (text === '') return
    if (isHan(text)) {
      this.#hasGap = false
      this.write(text)
      this.#refusesGap = true
    } else {
      this.space()
      this.write(text)
      this.space()
    }
  }

  space(): void {
    this.#hasGap = !this.#refusesGap && this.#last !== '' && !/\s/.test(this.#last)
    // Written at once where nothing can cling, as it makes certain that a comma stands between words.
    if (this.#hasGap && ',;:'.includes(this.#last)) this.#append(' ')
  }

  endLine(): void {
    this.#hasGap = false
    if (this.#last !== '' && this.#last !== '\n') this.#append('\n')
  }

  #append(text: string): void {
    this.#refusesGap = false
    this.#hasGap = false
    this.#written += text
    this.#last = text.at(-1) ?? ''
  }

  /** What was written since the last call. */
  take(): string {
    const text = this.#written
    this.#written = ''
    return text
  }
}
