/** From text to the numbers of a voice's symbols, as the voice was trained with them. */
import { EngineError } from '../../shared/errors.ts'
import type { LanguageTag } from '../types.ts'

/** Symbols to the ids that stand for them. */
export type SymbolIds = ReadonlyMap<string, readonly number[]>

/** Text as a list of symbols. */
export type ToSymbols = (text: string) => readonly string[]

/** Undefined where nothing of the text can be said. */
export type TextToIds = (text: string) => Int32Array | undefined

const PAD = '_'
const BEGIN = '^'
const END = '$'
/** Signs that look alike, in the forms that voices know. */
const ALIKE: Readonly<Record<string, string>> = {
  g: 'ɡ',
  ɡ: 'g',
  ɚ: 'ə',
  '，': ',',
  '。': '.',
  '？': '?',
  '！': '!',
  '；': ';',
  '：': ':',
  '、': ',',
  '…': '.',
  '—': ',',
  '–': ',',
  '’': "'",
  '“': '"',
  '”': '"',
}

/** Piper: begin, blank, then each symbol with a blank after it, end. */
export function createSymbolWriter(ids: SymbolIds, toSymbols: ToSymbols): TextToIds {
  return (text) => {
    const found = toSymbols(text).flatMap((symbol) => find(ids, symbol) ?? [])
    if (!saysSomething(found, ids)) return undefined
    const pad = ids.get(PAD) ?? []
    return Int32Array.from([
      ...(ids.get(BEGIN) ?? []),
      ...pad,
      ...found.flatMap((id) => [id, ...pad]),
      ...(ids.get(END) ?? []),
    ])
  }
}

/** Piper's pinyin voices: blanks stand after syllables and punctuation only. */
export function createPinyinWriter(ids: SymbolIds, toSymbols: ToSymbols): TextToIds {
  return (text) => {
    const found: number[] = []
    let isSpeech = false
    for (const symbol of toSymbols(text)) {
      const own = find(ids, symbol)
      if (!own) continue
      const isTone = /^[1-5]$/.test(symbol)
      isSpeech ||= isTone
      found.push(...own, ...(isTone || /^\P{L}$/u.test(symbol) ? (ids.get(PAD) ?? []) : []))
    }
    if (!isSpeech) return undefined
    return Int32Array.from([...(ids.get(BEGIN) ?? []), ...found, ...(ids.get(END) ?? [])])
  }
}

/** Hugging Face: a blank before, between and after all symbols, or none at all. */
export function createCharacterWriter(ids: SymbolIds, hasBlanks: boolean): TextToIds {
  return (text) => {
    const found = [...text].flatMap((symbol) => ids.get(symbol) ?? ids.get(symbol.toLowerCase()) ?? [])
    if (!saysSomething(found, ids)) return undefined
    return Int32Array.from(hasBlanks ? [0, ...found.flatMap((id) => [id, 0])] : found)
  }
}

function find(ids: SymbolIds, symbol: string): readonly number[] | undefined {
  return ids.get(symbol) ?? ids.get(ALIKE[symbol] ?? '')
}

/** Spaces and punctuation alone would be a breath at best. */
function saysSomething(found: readonly number[], ids: SymbolIds): boolean {
  const silent = new Set([...ids].flatMap(([symbol, own]) => (/[\p{L}\p{N}]/u.test(symbol) ? [] : own)))
  return found.some((id) => !silent.has(id))
}

/** The table of a voice's settings file: `{ "a": [14], … }` in Piper's, `{ "a": 14, … }` in Hugging Face's. */
export function parseSymbolIds(value: unknown, file: string, field: string, symbols: number): SymbolIds {
  const entries =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
  const table = entries.map(([symbol, ids]) => [symbol, [ids].flat()] as const)
  const isTable =
    table.length > 0 &&
    table.every(([, ids]) => ids.every((id) => Number.isInteger(id) && id >= 0 && id < symbols))
  if (isTable) return new Map(table as readonly (readonly [string, number[]])[])
  throw new EngineError('config/bad-field', {
    message: `${file}: "${field}": expected symbols with numbers from 0 to ${symbols - 1}; found ${JSON.stringify(value)?.slice(0, 80)}.`,
    hint: 'The settings belong to another voice, or are damaged; fetch both files again.',
  })
}

export function unsupportedLanguage(name: string, language: LanguageTag, way: string): EngineError {
  return new EngineError('speech/unsupported-language', {
    message: `${name}: a voice of "${language}" with ${way} is not supported; supported are English with IPA, Chinese with pinyin, and voices that read letters.`,
    hint: 'Use another voice: docs/speech.md says where to get one.',
  })
}
