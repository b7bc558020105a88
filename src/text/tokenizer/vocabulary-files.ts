import { fieldError, isJsonObject, requireObject } from '../json-fields.ts'

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, use_regex: true }

/**
 * A `tokenizer.json` put together from the files that byte-level tokenizers had before it: `vocab.json`, `merges.txt`
 * and `added_tokens.json`, whose tokens are all taken for control tokens.
 *
 * @param name What messages call the folder.
 */
export function joinVocabularyFiles(
  vocabulary: unknown,
  merges: string,
  addedTokens: unknown,
  name: string,
): unknown {
  requireObject(vocabulary, `${name}/vocab.json`)
  if (addedTokens !== undefined && !isJsonObject(addedTokens))
    throw fieldError(`${name}/added_tokens.json`, 'an object', addedTokens)
  return {
    added_tokens: Object.entries(addedTokens ?? {}).map(([content, id]) => ({ id, content, special: true })),
    pre_tokenizer: BYTE_LEVEL,
    decoder: BYTE_LEVEL,
    model: {
      type: 'BPE',
      vocab: vocabulary,
      merges: merges.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')),
    },
  }
}
