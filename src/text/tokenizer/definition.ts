import type { AddedToken } from './added-tokens.ts'
import type { PairTable } from './bpe.ts'
import type { Normalize, PreTokenize } from './text-splitting.ts'
import type { TokenSpelling } from './token-bytes.ts'

/** All that a byte-pair tokenizer consists of, wherever it came from: a `tokenizer.json` or the keys of a GGUF file. */
export interface TokenizerDefinition {
  /** By id, added tokens included; holes are ids that no token has. */
  readonly tokens: readonly (string | undefined)[]
  /** The tokens that text may become by merging. */
  readonly ids: ReadonlyMap<string, number>
  readonly pairs: PairTable
  readonly spelling: TokenSpelling
  readonly addedTokens: readonly AddedToken[]
  readonly normalize: Normalize
  readonly preTokenize: PreTokenize
  /** What stands for characters outside the vocabulary; without it they are left out. */
  readonly unknownId: number | undefined
  /** Neighbouring unknown characters share one unknown token. */
  readonly fusesUnknown: boolean
  /** Characters outside the vocabulary become `<0xNN>` tokens. */
  readonly byteFallback: boolean
  /** A piece that is a token as a whole is not merged. */
  readonly ignoresMerges: boolean
  /** Around the text when special tokens are asked for. */
  readonly prefixIds: readonly number[]
  readonly suffixIds: readonly number[]
  readonly bosToken: string | undefined
  readonly eosToken: string | undefined
  readonly warnings: readonly string[]
}

/** Largest id accepted, so that one wild id cannot make an array of gigabytes. Largest real vocabulary known: 262,208 (Gemma 3). */
export const MAX_TOKEN_ID = 2 ** 20 - 1

/** Characters in one token. The longest real ones are runs of 512 spaces or dashes. */
export const MAX_TOKEN_CHARACTERS = 2 ** 14
