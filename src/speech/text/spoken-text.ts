/**
 * Makes text that a model wrote into text to be said: no Markdown, code, tables, addresses or emoji, symbols by their
 * names. Works on streams: what is certain is given out at once, and how the stream was split changes nothing.
 */
import type { LanguageTag } from '../types.ts'
import { INLINE_RULES } from './inline-rules.ts'
import { LINE_RULES } from './line-rules.ts'
import type { Finding, Place } from './place.ts'
import { isChineseTag } from './scripts.ts'
import { SpeechWriter } from './speech-writer.ts'
import { SYMBOL_RULES } from './symbol-rules.ts'
import { CODE_OMITTED } from './symbol-words.ts'

/** The first that applies counts. */
const RULES = [...LINE_RULES, ...INLINE_RULES, ...SYMBOL_RULES]

export interface CleanOptions {
  /** Of the words for symbols. Default: Chinese once the text has Chinese characters, else English. */
  readonly language?: LanguageTag
}

export class SpokenTextCleaner {
  readonly #writer: SpeechWriter
  readonly #options: CleanOptions
  #rest = ''
  #isLineStart = true
  #previous = ''
  /** Inside something that is left out: what ends it. */
  #until: string | undefined

  constructor(options: CleanOptions = {}) {
    this.#options = options
    const { language } = options
    this.#writer = new SpeechWriter(
      language === undefined || language === 'auto' ? undefined : isChineseTag(language),
    )
  }

  /** @returns The text that is certain. Words are one space apart, lines one `\n`. */
  push(text: string): string {
    this.#rest += text
    // The other half comes with the next call.
    const half = /[\uD800-\uDBFF]$/.exec(this.#rest)?.[0] ?? ''
    this.#rest = this.#rest.slice(0, this.#rest.length - half.length)
    this.#read(false)
    this.#rest += half
    return this.#writer.take()
  }

  finish(): string {
    this.#read(true)
    return this.#writer.take()
  }

  #read(isComplete: boolean): void {
    while (this.#rest !== '') {
      if (this.#until !== undefined && !this.#skip(this.#until, isComplete)) return
      if (this.#rest === '') return
      const finding = findAt({
        rest: this.#rest,
        isComplete,
        isLineStart: this.#isLineStart,
        previous: this.#previous,
      })
      if (finding === 'unknown') return
      this.#take(finding)
    }
  }

  /** @returns Whether the end was found; what may be its beginning is kept. */
  #skip(until: string, isComplete: boolean): boolean {
    const end = this.#rest.search(new RegExp(until.replace(/\W/g, '\\$&'), 'i'))
    if (end < 0) {
      this.#rest = isComplete ? '' : this.#rest.slice(-(until.length - 1))
      return false
    }
    this.#rest = this.#rest.slice(end + until.length)
    this.#until = undefined
    this.#writer.endLine()
    return true
  }

  #take(finding: Finding): void {
    const { length } = finding
    if (finding.type === 'rewritten') {
      this.#rest = finding.text + this.#rest.slice(length)
      return
    }
    const writer = this.#writer
    this.#previous = [...this.#rest.slice(Math.max(0, length - 2), length)].at(-1) ?? ''
    this.#rest = this.#rest.slice(length)
    if (finding.type === 'line-end') this.#isLineStart = true
    else if (finding.type !== 'marker' && finding.type !== 'space' && finding.type !== 'nothing') {
      this.#isLineStart = false
    }
    switch (finding.type) {
      case 'nothing':
      case 'marker':
        break
      case 'space':
        writer.space()
        break
      case 'line-end':
        writer.endLine()
        break
      case 'text':
        writer.write(finding.text)
        break
      case 'word':
        writer.say(finding.word)
        break
      case 'table-row':
        this.#writeCells(finding.cells)
        break
      case 'block':
        this.#until = finding.until
        writer.endLine()
        if (finding.isCode) {
          writer.say(CODE_OMITTED)
          writer.endLine()
        }
        break
      default:
        finding satisfies never
    }
  }

  #writeCells(cells: readonly string[]): void {
    const language = this.#options.language ?? (this.#writer.speaksChinese ? 'zh' : 'en')
    const said = cells.map((cell) => cleanForSpeech(cell, { language })).filter((cell) => cell !== '')
    this.#writer.write(said.join(this.#writer.speaksChinese ? '，' : ', '))
  }
}

/**
 * @example
 * cleanForSpeech('**Note:** see [the manual](https://example.com) 👍') // 'Note: see the manual'
 */
export function cleanForSpeech(text: string, options: CleanOptions = {}): string {
  const cleaner = new SpokenTextCleaner(options)
  return (cleaner.push(text) + cleaner.finish()).trimEnd()
}

function findAt(place: Place): Finding | 'unknown' {
  for (const rule of RULES) {
    const finding = rule(place)
    if (finding !== undefined) return finding
  }
  // The last rule takes whatever is there.
  return { type: 'nothing', length: 1 }
}
