/** A sequence of tokens with its keys and values: what a conversation has computed so far, token by token. */
import type { BufferRef } from '../backend/backend.ts'
import type { CacheRange, KvCache, KvType } from '../models/blocks/kv-cache.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { type EmbeddingRows, MAX_STEP_TOKENS } from '../models/llama/decoder.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { PassLine } from './pass-queue.ts'

/** A picture's place in a prompt. */
export interface ImageSpan {
  /** Index of its first token. */
  readonly at: number
  readonly rows: number
  readonly features: BufferRef // f32 (rows, dim)
}

export interface Prompt {
  readonly ids: readonly number[]
  /** In order of `at`. The ids in a span are placeholders. */
  readonly images: readonly ImageSpan[]
}

export interface PrefillProgress {
  /** Computed so far, of those that had to be computed. */
  readonly tokens: number
  readonly totalTokens: number
}

/** Copying fewer tokens of another sequence saves nothing. */
const MIN_BORROWED = 16

/** Logits behind a token, and the pass that made them if they were not there already. */
export interface Step {
  readonly logits: Float32Array // (vocabSize)
  readonly pass: { readonly tokens: number; readonly milliseconds: number } | undefined
}

export class TokenSession {
  /** Its place in the model's queue. */
  readonly line: PassLine
  readonly #model: LanguageModel
  readonly #siblings: Set<TokenSession>
  readonly #cache: KvCache
  /** What the cache holds. */
  #ids: number[] = []
  #images: ImageSpan[] = []
  /** Tokens computed beyond these, with the logits behind each: they count once a step takes them. */
  #ahead: { readonly id: number; readonly logits: Float32Array }[] = []
  #borrowers = 0
  #isDisposed = false

  /** @param siblings Open sequences of the model: one that begins as another copies what that has computed. */
  constructor(model: LanguageModel, line: PassLine, siblings: Set<TokenSession> = new Set()) {
    this.#model = model
    this.line = line
    this.#siblings = siblings
    this.#cache = model.createCache()
    siblings.add(this)
  }

  /** Tokens in the cache. */
  get length(): number {
    return this.#ids.length
  }

  /** What the cache holds. */
  get contents(): Prompt {
    return { ids: this.#ids, images: this.#images }
  }

  get kvType(): KvType {
    return this.#cache.type
  }

  /** Where the keys and values of the first `tokens` of `contents` lie, to be read between passes. */
  ranges(tokens: number): CacheRange[] {
    return this.#cache.ranges(tokens)
  }

  /**
   * Takes over a sequence that another session computed: makes room, then `write` fills the places of its keys and
   * values, in the order of the other's `ranges`. Only for a session that holds nothing. What was not computed here is
   * not for siblings to copy.
   */
  async adopt(contents: Prompt, write: (ranges: CacheRange[]) => Promise<void>): Promise<void> {
    this.#siblings.delete(this)
    const { length } = contents.ids
    await this.line.run(() => this.#cache.reserve(length, 0))
    await write(this.#cache.ranges(length))
    this.#ids = [...contents.ids]
    this.#images = [...contents.images]
  }

  /**
   * Brings the cache to the state after `prompt`, computing only what neither it nor a sibling holds. Yields how many
   * tokens are computed after each pass, returns the logits of the last token. Aborting leaves what was computed.
   */
  async *prefill(
    prompt: Prompt,
    signal?: AbortSignal,
  ): AsyncGenerator<PrefillProgress, Float32Array, undefined> {
    await this.#borrow(prompt, signal)
    const kept = Math.min(this.#commonPrefix(prompt), prompt.ids.length - 1)
    this.#truncate(kept)
    const { maxTokens } = this.#model.decoder
    let logits: Float32Array | undefined
    for (let start = kept; start < prompt.ids.length; start += maxTokens) {
      const end = Math.min(start + maxTokens, prompt.ids.length)
      logits = await this.#run(prompt, start, end, end === prompt.ids.length, signal)
      yield { tokens: end - kept, totalTokens: prompt.ids.length - kept }
    }
    return logits as Float32Array
  }

  /**
   * Appends one token and returns the logits that follow it.
   *
   * @param draft Tokens that may come next. They are computed in the same pass, as many as a pass of `MAX_STEP_TOKENS`
   *   tokens takes, and steps that then take them in this order need none. Logits have the bits of single steps.
   */
  async step(id: number, draft: readonly number[] = [], signal?: AbortSignal): Promise<Step> {
    throwIfAborted(signal)
    const [next, ...rest] = this.#ahead
    if (next?.id === id) {
      this.#ids.push(id)
      this.#ahead = rest
      return { logits: next.logits, pass: undefined }
    }
    this.#ahead = []
    return this.line.run(() => this.#compute([id, ...draft], signal), signal)
  }

  async #compute(given: readonly number[], signal: AbortSignal | undefined): Promise<Step> {
    throwIfAborted(signal)
    const { decoder, backend } = this.#model
    const { vocabSize } = decoder.config
    const ids = Int32Array.from(given.slice(0, Math.min(MAX_STEP_TOKENS, decoder.maxTokens)))
    const position = this.#ids.length
    await this.#cache.reserve(position + ids.length, position)
    const start = performance.now()
    const want = ids.length === 1 ? 'last' : 'all'
    decoder.run({ ids, replacements: [], position, cache: this.#cache, want })
    const bytes = await backend.read(decoder.logits, ids.length * vocabSize * 4, signal)
    const milliseconds = performance.now() - start
    const [first, ...others] = Array.from(ids, (id, row) => ({
      id,
      logits: new Float32Array(bytes.buffer, row * vocabSize * 4, vocabSize),
    }))
    const { id, logits } = first as { id: number; logits: Float32Array }
    this.#ids.push(id)
    this.#ahead = others
    return { logits, pass: { tokens: ids.length, milliseconds } }
  }

  dispose(): void {
    this.#siblings.delete(this)
    this.#isDisposed = true
    this.#truncate(0)
    if (this.#borrowers === 0) this.#cache.dispose()
  }

  /** Copies the beginning of the sibling that has most of the prompt, where that is more than is here. */
  async #borrow(prompt: Prompt, signal: AbortSignal | undefined): Promise<void> {
    const findLender = (): { lender: TokenSession; length: number } | undefined => {
      let best: { lender: TokenSession; length: number } | undefined
      let most = this.#commonPrefix(prompt) + MIN_BORROWED
      for (const lender of this.#siblings) {
        const length = lender === this ? 0 : lender.#commonPrefix(prompt)
        if (length < most) continue
        best = { lender, length }
        most = length + 1
      }
      return best
    }
    if (!findLender()) return
    await this.line.run(async () => {
      // Until now the lender may have gone elsewhere, or another may have come further.
      const found = findLender()
      if (found) await this.#copyFrom(found.lender, prompt, found.length)
    }, signal)
  }

  async #copyFrom(lender: TokenSession, prompt: Prompt, length: number): Promise<void> {
    const { backend } = this.#model
    this.#truncate(this.#commonPrefix(prompt))
    lender.#borrowers++
    try {
      await this.#cache.reserve(length, this.#ids.length)
      const sources = lender.#cache.ranges(length)
      for (const [index, { ref, byteLength }] of this.#cache.ranges(length).entries()) {
        const source = (sources[index] as CacheRange).ref
        backend.enqueue('copyRows', { source, out: ref, rows: length, columns: byteLength / length / 4 })
      }
      await backend.flush()
    } finally {
      lender.#borrowers--
      if (lender.#isDisposed && lender.#borrowers === 0) lender.#cache.dispose()
    }
    this.#ids = prompt.ids.slice(0, length)
    this.#images = prompt.images.filter((span) => span.at < length)
  }

  /** One pass over tokens `start` to `end` of the prompt; logits when `last`. */
  #run(
    prompt: Prompt,
    start: number,
    end: number,
    last: boolean,
    signal?: AbortSignal,
  ): Promise<Float32Array | undefined> {
    return this.line.run(async () => {
      throwIfAborted(signal)
      const { decoder, backend } = this.#model
      await this.#cache.reserve(prompt.ids.length, start)
      const ids = Int32Array.from(prompt.ids.slice(start, end))
      const replacements = prompt.images.flatMap((span) => rowsWithin(span, start, end, decoder.config.dim))
      decoder.run({ ids, replacements, position: start, cache: this.#cache, want: last ? 'last' : 'none' })
      let logits: Float32Array | undefined
      if (last)
        logits = new Float32Array(
          (await backend.read(decoder.logits, decoder.config.vocabSize * 4, signal)).buffer,
        )
      else await backend.flush(signal)
      this.#ids.push(...ids)
      this.#images.push(...prompt.images.filter((span) => span.at >= start && span.at < end))
      return logits
    }, signal)
  }

  /** How many tokens the cache and the prompt share; a picture counts as the same when its features are. */
  #commonPrefix({ ids, images }: Prompt): number {
    const limit = Math.min(ids.length, this.#ids.length)
    let length = 0
    while (length < limit && ids[length] === this.#ids[length]) length++
    for (let index = 0; index < Math.max(images.length, this.#images.length); index++) {
      const mine = this.#images[index]
      const other = images[index]
      if (mine?.at === other?.at && mine?.features.buffer === other?.features.buffer) continue
      length = Math.min(length, mine?.at ?? length, other?.at ?? length)
      break
    }
    return length
  }

  #truncate(length: number): void {
    this.#ahead = []
    this.#ids.length = Math.min(this.#ids.length, length)
    this.#images = this.#images.filter((span) => span.at < length)
  }
}

/** The part of a picture's rows that falls into tokens `start` to `end`. */
export function rowsWithin(
  { at, rows, features }: ImageSpan,
  start: number,
  end: number,
  dim: number,
): EmbeddingRows[] {
  const first = Math.max(at, start)
  const count = Math.min(at + rows, end) - first
  if (count <= 0) return []
  const source = { buffer: features.buffer, byteOffset: features.byteOffset + (first - at) * dim * 4 }
  return [{ at: first - start, rows: count, source }]
}
