/** Tokenizers of Whisper models, from whatever their files hold. */
import type { JsonFiles } from '../../engine/json-files.ts'
import type { GgmlFile } from '../../formats/ggml/load-ggml.ts'
import type { GgufFile } from '../../formats/gguf/load-gguf.ts'
import { EngineError } from '../../shared/errors.ts'
import {
  createTokenizerFromGguf,
  createTokenizerFromJson,
  createTokenizerFromRanks,
  type Tokenizer,
} from '../../text/tokenizer/tokenizer.ts'
import { joinVocabularyFiles } from '../../text/tokenizer/vocabulary-files.ts'
import { WHISPER_LANGUAGES } from './languages.ts'

export async function loadVocabularyFromFolder(files: JsonFiles): Promise<Tokenizer> {
  const json = await files.read('tokenizer.json')
  const settings = await files.read('tokenizer_config.json')
  if (json !== undefined) return createTokenizerFromJson(json, settings, files.label('tokenizer.json'))
  const merges = await files.readText('merges.txt')
  const vocabulary = await files.read('vocab.json')
  if (merges === undefined || vocabulary === undefined) await files.require('tokenizer.json')
  const joined = joinVocabularyFiles(
    vocabulary,
    merges ?? '',
    await files.read('added_tokens.json'),
    files.label('').replace(/\/$/, ''),
  )
  return createTokenizerFromJson(joined, settings, files.label('vocab.json'))
}

/** The file's own, or else that of a `tokenizer.json` beside it. */
export async function loadVocabularyOfGguf(gguf: GgufFile, files: JsonFiles): Promise<Tokenizer> {
  const { metadata, source } = gguf
  if (metadata.has('tokenizer.ggml.model')) return createTokenizerFromGguf(metadata, source.name)
  return loadVocabularyFromFolder(files)
}

/** Control tokens besides languages and timestamps: two before the languages, six behind them. */
const BEHIND_LANGUAGES = [
  '<|translate|>',
  '<|transcribe|>',
  '<|startoflm|>',
  '<|startofprev|>',
  '<|nospeech|>',
  '<|notimestamps|>',
]
/** 0.00 to 30.00 s. */
const TIMESTAMPS = 1501
const END_OF_TEXT = '<|endoftext|>'

/** whisper.cpp's files hold the tokens of text only; control tokens follow in the order that all Whisper models have. */
export function createVocabularyOfGgml({ vocabulary, sizes, source }: GgmlFile): Tokenizer {
  const last = new TextDecoder().decode(vocabulary.at(-1) ?? new Uint8Array(0))
  // Files made from Hugging Face's vocabulary count the end token among those of text.
  const texts = last === END_OF_TEXT ? vocabulary.slice(0, -1) : vocabulary
  const languages = sizes.vocabSize - texts.length - 2 - BEHIND_LANGUAGES.length - TIMESTAMPS
  if (languages < 1 || languages > WHISPER_LANGUAGES.length) {
    throw new EngineError('model/tokenizer-mismatch', {
      message: `${source.name}: of ${sizes.vocabSize} tokens ${texts.length} are text, which leaves ${languages} for languages; expected 1 to ${WHISPER_LANGUAGES.length}.`,
      hint: 'The file is damaged or of a kind that is not supported.',
    })
  }
  const control = [
    END_OF_TEXT,
    '<|startoftranscript|>',
    ...WHISPER_LANGUAGES.slice(0, languages).map((code) => `<|${code}|>`),
    ...BEHIND_LANGUAGES,
  ]
  const special = new Map(control.map((content, index): [number, string] => [texts.length + index, content]))
  return createTokenizerFromRanks(texts, special, source.name)
}
