/** Tokens a second at several lengths of prompt and context, and the time of a picture. */
import type { KvCache } from '../models/blocks/kv-cache.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { throwIfAborted } from '../shared/abort.ts'

const PROMPTS = [64, 512, 2048]
const CONTEXTS = [0, 512, 2048]
const DECODED_TOKENS = 32

/** Times of the fastest of several runs, since machines are shared. */
export class Stopwatch {
  readonly signal: AbortSignal | undefined
  readonly #repeat: number

  constructor(repeat: number, signal: AbortSignal | undefined) {
    this.#repeat = repeat
    this.signal = signal
  }

  /** Seconds of the fastest run. What `prepare` takes is not counted. */
  async best(work: () => Promise<void>, prepare?: () => Promise<void>): Promise<number> {
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < this.#repeat; run++) {
      throwIfAborted(this.signal)
      await prepare?.()
      const start = performance.now()
      await work()
      best = Math.min(best, (performance.now() - start) / 1000)
    }
    return best
  }
}

/** Lengths that the model's context has no room for are cut to what it has. */
export async function measureSpeeds(
  model: LanguageModel,
  watch: Stopwatch,
): Promise<{ decodeTokensPerSecond0: number } & Record<string, number>> {
  const room = model.config.decoder.contextLength - DECODED_TOKENS
  const within = (lengths: readonly number[]): Set<number> =>
    new Set(lengths.map((length) => Math.min(length, room)))
  const cache = model.createCache()
  try {
    await cache.reserve(Math.min(Math.max(...PROMPTS, ...CONTEXTS), room) + DECODED_TOKENS, 0)
    await decode(model, cache, 0, 2, watch.signal) // first use of every buffer and code path
    const numbers: { decodeTokensPerSecond0: number } & Record<string, number> = { decodeTokensPerSecond0: 0 }
    const tileMs = await measurePicture(model, watch)
    if (tileMs !== undefined) numbers['imageEncodeMsPerTile'] = tileMs
    for (const tokens of within(PROMPTS)) {
      const seconds = await watch.best(() => prefill(model, cache, tokens, watch.signal))
      numbers[`prefillTokensPerSecond${tokens}`] = tokens / seconds
    }
    for (const context of within(CONTEXTS)) {
      const seconds = await watch.best(() => decode(model, cache, context, DECODED_TOKENS, watch.signal))
      numbers[`decodeTokensPerSecond${context}`] = DECODED_TOKENS / seconds
    }
    return numbers
  } finally {
    cache.dispose()
  }
}

async function prefill(
  { decoder, backend }: LanguageModel,
  cache: KvCache,
  tokens: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let position = 0; position < tokens; position += decoder.maxTokens) {
    const count = Math.min(decoder.maxTokens, tokens - position)
    decoder.run({
      ids: Int32Array.from({ length: count }, (_, index) => syntheticToken(position + index, decoder.config)),
      replacements: [],
      position,
      cache,
      want: position + count === tokens ? 'last' : 'none',
    })
    await backend.flush(signal)
  }
}

/** Any token will do, as long as they differ. */
export function syntheticToken(position: number, { vocabSize }: { readonly vocabSize: number }): number {
  return (position * 37) % vocabSize
}

/** As an answer is made: logits are read and looked through for every token. */
async function decode(
  { decoder, backend }: LanguageModel,
  cache: KvCache,
  position: number,
  tokens: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let id = 1
  for (let step = 0; step < tokens; step++) {
    decoder.run({ ids: Int32Array.of(id), replacements: [], position: position + step, cache, want: 'last' })
    const logits = new Float32Array(
      (await backend.read(decoder.logits, decoder.config.vocabSize * 4, signal)).buffer,
    )
    id = logits.indexOf(Math.max(...logits.subarray(0, 64)))
  }
}

/** Milliseconds of one frame through tower and projector; undefined for text models. */
async function measurePicture(
  { pictures, config, backend }: LanguageModel,
  watch: Stopwatch,
): Promise<number | undefined> {
  if (!pictures) return undefined
  const { imageSize } = pictures.vision
  const pixels = Float32Array.from({ length: 3 * imageSize * imageSize }, (_, index) => Math.sin(index))
  const out = backend.alloc(pictures.tokensPerFrame * config.decoder.dim * 4)
  try {
    const seconds = await watch.best(async () => {
      pictures.run(pixels, out)
      await backend.flush(watch.signal)
    })
    return seconds * 1000
  } finally {
    backend.free(out)
  }
}
