/** The control tokens of a Whisper model, and which tokens are never chosen. */
import { EngineError } from '../../shared/errors.ts'
import { isJsonObject } from '../../text/json-fields.ts'
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts'
import { WHISPER_LANGUAGES } from './languages.ts'

export interface WhisperTokens {
  readonly endOfText: number
  readonly startOfTranscript: number
  /** By code, in the order of the vocabulary; empty for a model of English only. */
  readonly languages: ReadonlyMap<string, number>
  /** Undefined for a model of English only, which does nothing else. */
  readonly transcribe: number | undefined
  readonly startOfPrevious: number
  readonly noSpeech: number
  readonly noTimestamps: number
  /** 0.00 s; each later one is 0.02 s on, up to the end of the vocabulary. */
  readonly firstTimestamp: number
  /** Never chosen: symbols that nobody speaks, control tokens. */
  readonly suppressed: readonly number[]
  /** Never chosen as the first one. */
  readonly suppressedAtStart: readonly number[]
}

/** The vocabulary of every multilingual model is larger than that of the English ones. */
const MULTILINGUAL_FROM = 51865

/**
 * @param generationConfig Parsed `generation_config.json`, where there is one: its lists of suppressed tokens count.
 * @throws EngineError `model/tokenizer-mismatch` where the tokenizer lacks Whisper's control tokens.
 */
export function findWhisperTokens(
  tokenizer: Tokenizer,
  vocabSize: number,
  generationConfig: unknown,
  name: string,
): WhisperTokens {
  const settings = isJsonObject(generationConfig) ? generationConfig : {}
  const require = (...spellings: string[]): number => {
    for (const spelling of spellings) {
      const id = tokenizer.tokenToId(spelling)
      if (id !== undefined && id < vocabSize) return id
    }
    throw new EngineError('model/tokenizer-mismatch', {
      message: `${name}: the token ${spellings[0]} is missing; expected the vocabulary of a Whisper model of ${vocabSize} tokens.`,
      hint: 'The tokenizer belongs to another model; fetch the files of one release.',
    })
  }
  const startOfTranscript = require('<|startoftranscript|>')
  const endOfText = require('<|endoftext|>')
  const translate = require('<|translate|>')
  const transcribe = require('<|transcribe|>')
  const startOfPrevious = require('<|startofprev|>')
  const noSpeech = require('<|nospeech|>', '<|nocaptions|>')
  const noTimestamps = require('<|notimestamps|>')
  const control = [
    startOfTranscript,
    translate,
    transcribe,
    require('<|startoflm|>'),
    startOfPrevious,
    noSpeech,
  ]
  const stated = settings['is_multilingual']
  const isMultilingual = typeof stated === 'boolean' ? stated : vocabSize >= MULTILINGUAL_FROM
  return {
    endOfText,
    startOfTranscript,
    languages: isMultilingual ? findLanguages(tokenizer, vocabSize) : new Map(),
    transcribe: isMultilingual ? transcribe : undefined,
    startOfPrevious,
    noSpeech,
    noTimestamps,
    firstTimestamp: noTimestamps + 1,
    suppressed: [
      ...new Set([...(readIds(settings['suppress_tokens']) ?? findSymbols(tokenizer)), ...control]),
    ],
    suppressedAtStart: readIds(settings['begin_suppress_tokens']) ?? [
      ...tokenizer.encode(' ').slice(0, 1),
      endOfText,
    ],
  }
}

function findLanguages(tokenizer: Tokenizer, vocabSize: number): Map<string, number> {
  const languages = new Map<string, number>()
  for (const code of WHISPER_LANGUAGES) {
    const id = tokenizer.tokenToId(`<|${code}|>`)
    if (id !== undefined && id < vocabSize) languages.set(code, id)
  }
  return languages
}

function readIds(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || !value.every((id) => Number.isInteger(id))) return undefined
  // -1 stands for the list below; Transformers' configurations have it written out.
  return value.includes(-1) ? undefined : value
}

const SYMBOLS = [
  ...'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
  ...'<< >> <<< >>> -- --- -( -[ (\' (" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪'.split(' '),
]
const NOTES = [...'♩♪♫♬♭♮♯']

/**
 * Tokens of symbols that subtitles have and nobody speaks (openai/whisper `tokenizer.py`, `non_speech_tokens`), where
 * one token says them; of notes the first token, since all share it.
 */
export function findSymbols(tokenizer: Tokenizer): readonly number[] {
  const found = new Set<number>()
  for (const word of [' -', " '"]) found.add(tokenizer.encode(word)[0] as number)
  for (const symbol of [...SYMBOLS, ...NOTES]) {
    for (const spelling of [symbol, ` ${symbol}`]) {
      const [first, ...rest] = tokenizer.encode(spelling)
      if (first !== undefined && (rest.length === 0 || NOTES.includes(symbol))) found.add(first)
    }
  }
  return [...found].sort((a, b) => a - b)
}
