/** Texts as vectors: the mean of what the decoder's last layer leaves of their tokens. */
import type { DeviceBuffer } from '../backend/backend.ts'
import { EngineError } from '../shared/errors.ts'
import { createNeutralizer } from '../text/neutralize.ts'
import { checkOptions, SIGNAL_RULE } from './check-options.ts'
import type { LoadedModel } from './loaded-model.ts'
import type { Embedding, EmbedOptions } from './types.ts'

export async function embedTexts(
  loaded: LoadedModel,
  texts: readonly string[],
  options: EmbedOptions,
): Promise<Embedding[]> {
  checkOptions(options, { signal: SIGNAL_RULE }, 'for embeddings')
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) {
    throw new EngineError('option/invalid', { message: 'Embeddings are made of a list of texts.' })
  }
  // All are encoded before the first is computed, so that one that does not fit is found at once.
  const tokens = texts.map((text, index) => encodeText(loaded, text, index))
  const { backend, model } = loaded
  const { dim } = model.decoder.config
  const longest = Math.max(0, ...tokens.map(({ length }) => length))
  if (longest === 0) return []
  const rows = backend.alloc(Math.min(longest, model.decoder.maxTokens) * dim * 4)
  try {
    const embeddings: Embedding[] = []
    for (const ids of tokens) {
      const vector = normalize(await sumHidden(loaded, ids, rows, options.signal))
      embeddings.push({ vector, tokens: ids.length })
    }
    return embeddings
  } finally {
    backend.free(rows)
  }
}

/** As a text of its own: begun as the tokenizer begins texts, what looks like a control token read as text. */
function encodeText(
  { text, name, contextLength }: LoadedModel,
  given: string,
  index: number,
): readonly number[] {
  const { tokenizer } = text
  const neutralize = createNeutralizer(tokenizer.specialTokens)
  const ids = tokenizer.encode(neutralize(given), { neutralized: true, addSpecialTokens: true })
  if (given === '' || ids.length === 0) {
    throw new EngineError('text/empty-prompt', {
      message: `Text ${index} has no tokens.`,
      hint: 'Leave out empty texts.',
    })
  }
  if (ids.length <= contextLength) return ids
  throw new EngineError('generation/context-full', {
    message: `Text ${index} has ${ids.length} tokens, but ${name} holds ${contextLength}.`,
    hint: 'Cut it into parts.',
  })
}

/** The sum of all tokens' rows, in double precision. */
async function sumHidden(
  { backend, model, queue }: LoadedModel,
  ids: readonly number[],
  rows: DeviceBuffer, // f32 (tokens of a pass, dim)
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const { decoder } = model
  const { dim, layers } = decoder.config
  const line = queue.line()
  const cache = model.createCache()
  const sum = new Float64Array(dim)
  try {
    for (let start = 0; start < ids.length; start += decoder.maxTokens) {
      const part = Int32Array.from(ids.slice(start, start + decoder.maxTokens))
      await line.run(async () => {
        await cache.reserve(start + part.length, start)
        decoder.run({
          ids: part,
          replacements: [],
          position: start,
          cache,
          want: 'hidden',
          onHidden(layer, source) {
            if (layer < layers) return
            backend.enqueue('copyRows', { source, out: rows, rows: part.length, columns: dim })
          },
        })
        const { buffer } = await backend.read(rows, part.length * dim * 4, signal)
        const hidden = new Float32Array(buffer)
        for (let index = 0; index < hidden.length; index++) {
          sum[index % dim] = (sum[index % dim] as number) + (hidden[index] as number)
        }
      }, signal)
    }
    return sum
  } finally {
    cache.dispose()
  }
}

/** To a length of 1; what the sum is divided by for a mean makes no difference to it. */
function normalize(sum: Float64Array): Float32Array {
  const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0))
  return Float32Array.from(sum, (value) => (length === 0 ? 0 : value / length))
}
