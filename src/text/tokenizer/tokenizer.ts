import type { GrowthMemo } from '../growth-memo.ts'
import { restoreNeutralized } from '../neutralize.ts'
import { type AddedToken, AddedTokenSplitter } from './added-tokens.ts'
import { mergeSymbols } from './bpe.ts'
import type { TokenizerDefinition } from './definition.ts'
import { parseTokenizerGguf } from './parse-gguf.ts'
import { parseTokenizerJson } from './parse-json.ts'
import { parseRankedTokens } from './parse-ranks.ts'
import { createStreamingDecoder, type StreamingDecoder } from './streaming-decoder.ts'
import { encodeTokenBytes, formatByteToken } from './token-bytes.ts'

export interface EncodeOptions {
  /** Adds what the tokenizer's own rule puts around a text, such as a BOS token. Default false: chat templates write it themselves. */
  addSpecialTokens?: boolean
  /** The text holds parts that went through `createNeutralizer`; prefer `encodePrompt`. Default false. */
  neutralized?: boolean
  /** What was encoded for the same text when it was shorter; only for texts that are all neutralized, or none. */
  sections?: GrowthMemo<readonly number[]> | undefined
}

export interface DecodeOptions {
  /** Leaves control tokens out of the text. Default true. */
  skipSpecialTokens?: boolean
}

/** Text to token ids and back. */
export interface Tokenizer {
  /** Highest id + 1, added tokens included. A model may have more embedding rows, never fewer. */
  readonly vocabSize: number
  /** The strings of all control tokens. */
  readonly specialTokens: readonly string[]
  /** The tokens that begin and end a text by the tokenizer's own settings, where it names them. */
  readonly bosToken: string | undefined
  readonly eosToken: string | undefined
  /** What had to be guessed while loading, in words for the user. */
  readonly warnings: readonly string[]
  /** Added tokens act wherever their text occurs. Lone surrogates are read as U+FFFD. */
  encode(text: string, options?: EncodeOptions): number[]
  /**
   * Bytes that form no character become U+FFFD, ids without a token nothing.
   * Spaces before punctuation are never "cleaned up", so streamed text and whole text agree.
   */
  decode(ids: readonly number[], options?: DecodeOptions): string
  /** The id of a token as the vocabulary spells it ("Ġthe", "▁the", "<image>"). */
  tokenToId(token: string): number | undefined
  idToToken(id: number): string | undefined
  /** What a token adds to decoded text, which may end in the middle of a character; nothing for control tokens. */
  tokenBytes(id: number): Uint8Array
  /** True for control tokens such as `<|im_end|>`. */
  isSpecial(id: number): boolean
  createDecoder(options?: DecodeOptions): StreamingDecoder
}

/**
 * A tokenizer from a parsed `tokenizer.json` and `tokenizer_config.json` (`{}` or undefined where there is none).
 * `name` is what messages call the first file. Understands BPE models, byte-level and SentencePiece style.
 * Throws `text/...` for anything it would read wrongly.
 */
export function createTokenizerFromJson(
  tokenizerJson: unknown,
  tokenizerConfig: unknown,
  name: string,
): Tokenizer {
  return new BpeTokenizer(parseTokenizerJson(tokenizerJson, tokenizerConfig, name))
}

/**
 * A tokenizer from the `tokenizer.ggml.*` keys of a GGUF file. `name` is what messages call the file.
 * Understands the models "gpt2" (byte-level BPE) and "llama" (SentencePiece BPE).
 */
export function createTokenizerFromGguf(metadata: ReadonlyMap<string, unknown>, name: string): Tokenizer {
  return new BpeTokenizer(parseTokenizerGguf(metadata, name))
}

/** A byte-level tokenizer from tokens in the order in which they were learned, and control tokens behind them by id. */
export function createTokenizerFromRanks(
  vocabulary: readonly Uint8Array[],
  special: ReadonlyMap<number, string>,
  name: string,
): Tokenizer {
  return new BpeTokenizer(parseRankedTokens(vocabulary, special, name))
}

const NO_BYTES = new Uint8Array(0)
const UTF8 = new TextEncoder()

class BpeTokenizer implements Tokenizer {
  readonly #definition: TokenizerDefinition
  readonly #added = new Map<number, AddedToken>()
  readonly #addedIds = new Map<string, number>()
  readonly #beforeNormalizing: AddedTokenSplitter
  readonly #afterNormalizing: AddedTokenSplitter
  readonly #plainOnly: AddedTokenSplitter
  readonly vocabSize: number
  readonly specialTokens: readonly string[]

  constructor(definition: TokenizerDefinition) {
    this.#definition = definition
    const { addedTokens, normalize } = definition
    for (const token of addedTokens) {
      this.#added.set(token.id, token)
      this.#addedIds.set(token.content, token.id)
    }
    this.#beforeNormalizing = new AddedTokenSplitter(addedTokens.filter((token) => !token.normalized))
    this.#afterNormalizing = new AddedTokenSplitter(
      addedTokens.filter((token) => token.normalized),
      (token) => normalize(token.content),
    )
    this.#plainOnly = new AddedTokenSplitter(addedTokens.filter((token) => !token.special))
    this.vocabSize = definition.tokens.length
    this.specialTokens = addedTokens.filter((token) => token.special).map((token) => token.content)
  }

  get bosToken(): string | undefined {
    return this.#definition.bosToken
  }

  get eosToken(): string | undefined {
    return this.#definition.eosToken
  }

  get warnings(): readonly string[] {
    return this.#definition.warnings
  }

  encode(
    text: string,
    { addSpecialTokens = false, neutralized = false, sections: memo }: EncodeOptions = {},
  ): number[] {
    const { prefixIds, suffixIds } = this.#definition
    const ids: number[] = addSpecialTokens ? [...prefixIds] : []
    memo?.begin()
    this.#beforeNormalizing.split(replaceLoneSurrogates(text)).forEach((section, index) => {
      if (typeof section !== 'string') {
        ids.push(section.id)
        return
      }
      const isFirst = index === 0
      const encode = (): number[] => this.#encodeSection(section, isFirst, neutralized)
      for (const id of memo ? memo.of(`${isFirst ? '^' : ' '}${section}`, encode) : encode()) ids.push(id)
    })
    if (addSpecialTokens) for (const id of suffixIds) ids.push(id)
    return ids
  }

  /** A stretch without added tokens that are found before normalising. */
  #encodeSection(section: string, isFirst: boolean, neutralized: boolean): number[] {
    const ids: number[] = []
    this.#afterNormalizing.split(this.#definition.normalize(section)).forEach((part, index) => {
      if (typeof part !== 'string') ids.push(part.id)
      else if (neutralized) this.#encodeNeutralized(part, isFirst && index === 0, ids)
      else this.#encodePlain(part, isFirst && index === 0, ids)
    })
    return ids
  }

  decode(ids: readonly number[], options: DecodeOptions = {}): string {
    const decoder = this.createDecoder(options)
    let text = ''
    for (const id of ids) text += decoder.push(id)
    return text + decoder.flush()
  }

  tokenToId(token: string): number | undefined {
    return this.#addedIds.get(token) ?? this.#definition.ids.get(token)
  }

  idToToken(id: number): string | undefined {
    return this.#definition.tokens[id]
  }

  tokenBytes(id: number): Uint8Array {
    return this.#bytesOf(id, true)
  }

  isSpecial(id: number): boolean {
    return this.#added.get(id)?.special === true
  }

  createDecoder({ skipSpecialTokens = true }: DecodeOptions = {}): StreamingDecoder {
    const { spelling } = this.#definition
    return createStreamingDecoder(
      (id) => this.#bytesOf(id, skipSpecialTokens),
      spelling.kind === 'sentence-piece' ? spelling.leadingSpaces : 0,
    )
  }

  #bytesOf(id: number, skipSpecialTokens: boolean): Uint8Array {
    const added = this.#added.get(id)
    if (added !== undefined) return added.special && skipSpecialTokens ? NO_BYTES : UTF8.encode(added.content)
    const token = this.#definition.tokens[id]
    return token === undefined ? NO_BYTES : encodeTokenBytes(token, this.#definition.spelling)
  }

  /** What the marks kept apart is put together again, so from here on no control token may be found. */
  #encodeNeutralized(text: string, isFirst: boolean, ids: number[]): void {
    const restored = restoreNeutralized(text)
    if (restored === text) {
      this.#encodePlain(text, isFirst, ids)
      return
    }
    this.#plainOnly.split(restored).forEach((part, index) => {
      if (typeof part !== 'string') ids.push(part.id)
      else this.#encodePlain(part, isFirst && index === 0, ids)
    })
  }

  #encodePlain(text: string, isFirst: boolean, ids: number[]): void {
    const { ids: vocabulary, ignoresMerges, pairs, preTokenize } = this.#definition
    for (const piece of preTokenize(text, isFirst)) {
      const whole = ignoresMerges ? vocabulary.get(piece) : undefined
      if (whole !== undefined && !this.isSpecial(whole)) ids.push(whole)
      else for (const id of mergeSymbols(this.#symbolsOf(piece), pairs)) ids.push(id)
    }
  }

  /** One token a character, before merging. */
  #symbolsOf(piece: string): number[] {
    const { byteFallback, fusesUnknown, ids, unknownId } = this.#definition
    const symbols: number[] = []
    let afterUnknown = false
    for (const character of piece) {
      const id = ids.get(character)
      if (id !== undefined) {
        symbols.push(id)
        afterUnknown = false
        continue
      }
      const bytes = byteFallback ? this.#byteTokensOf(character) : undefined
      if (bytes !== undefined) {
        symbols.push(...bytes)
        afterUnknown = false
      } else if (unknownId !== undefined) {
        if (!(fusesUnknown && afterUnknown)) symbols.push(unknownId)
        afterUnknown = true
      }
    }
    return symbols
  }

  #byteTokensOf(character: string): number[] | undefined {
    const tokens: number[] = []
    for (const byte of UTF8.encode(character)) {
      const id = this.#definition.ids.get(formatByteToken(byte))
      if (id === undefined) return undefined
      tokens.push(id)
    }
    return tokens
  }
}

/** `String.prototype.toWellFormed` of newer engines. */
function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
