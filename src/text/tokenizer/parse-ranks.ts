import type { AddedToken } from './added-tokens.ts'
import { ScoredPairTable } from './bpe.ts'
import type { TokenizerDefinition } from './definition.ts'
import { createPreTokenizer } from './text-splitting.ts'
import { spellTokenBytes } from './token-bytes.ts'

/**
 * The byte-level tokenizer of a vocabulary that lists its tokens in the order in which they were learned, as OpenAI's
 * tiktoken does: two neighbours merge when what they make is a token, the earliest first.
 *
 * @param vocabulary Bytes of each token, by id.
 * @param special Control tokens behind them, by id.
 */
export function parseRankedTokens(
  vocabulary: readonly Uint8Array[],
  special: ReadonlyMap<number, string>,
  name: string,
): TokenizerDefinition {
  const tokens: (string | undefined)[] = vocabulary.map(spellTokenBytes)
  const ids = new Map<string, number>()
  for (const [id, token] of tokens.entries()) if (token !== undefined && !ids.has(token)) ids.set(token, id)
  const scores = Float64Array.from(tokens, (_, id) => -id)
  const pairs = new ScoredPairTable([...tokens], ids, scores, () => true)
  const addedTokens = [...special].map(
    ([id, content]): AddedToken => ({
      id,
      content,
      special: true,
      singleWord: false,
      leftStrip: false,
      rightStrip: false,
      normalized: false,
    }),
  )
  for (const { id, content } of addedTokens) tokens[id] = content
  return {
    tokens: Array.from(tokens, (token: string | undefined) => token),
    ids,
    pairs,
    spelling: { kind: 'byte-level' },
    addedTokens,
    normalize: (text) => text,
    preTokenize: createPreTokenizer({ type: 'ByteLevel', add_prefix_space: false }, name),
    unknownId: undefined,
    fusesUnknown: false,
    byteFallback: false,
    ignoresMerges: false,
    prefixIds: [],
    suffixIds: [],
    bosToken: undefined,
    eosToken: undefined,
    warnings: [],
  }
}
