/** What a model expects at each place of an answer that is given to it, instead of one that it chooses. */
import { type Prompt, rowsWithin } from '../generation/token-session.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { LoadedModel } from './loaded-model.ts'

/**
 * Logits that predict each token of `answer` behind `prompt`, (answer.length, vocabSize).
 *
 * @param signal Aborting rejects with an `AbortError` after the pass that runs.
 */
export async function forceAnswer(
  { model, backend, queue }: LoadedModel,
  prompt: Prompt,
  answer: readonly number[],
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { decoder } = model
  const { vocabSize, dim } = decoder.config
  const first = prompt.ids.length - 1 // the prompt's last token predicts the answer's first
  const ids = [...prompt.ids, ...answer.slice(0, -1)]
  const logits = new Float32Array(answer.length * vocabSize)
  const cache = model.createCache()
  const passTokens = decoder.maxTokens
  const rows = backend.alloc(Math.min(passTokens, answer.length) * vocabSize * 4)
  try {
    await queue.run(async () => {
      await cache.reserve(ids.length, 0)
      for (let start = 0; start < ids.length; ) {
        throwIfAborted(signal)
        const wanted = start >= first
        const end = Math.min(start + passTokens, wanted ? ids.length : first)
        decoder.run({
          ids: Int32Array.from(ids.slice(start, end)),
          replacements: prompt.images.flatMap((span) => rowsWithin(span, start, end, dim)),
          position: start,
          cache,
          want: wanted ? 'all' : 'none',
          logits: rows,
        })
        if (wanted) {
          const bytes = await backend.read(rows, (end - start) * vocabSize * 4, signal)
          logits.set(new Float32Array(bytes.buffer), (start - first) * vocabSize)
        } else await backend.flush(signal)
        start = end
      }
    })
    return logits
  } finally {
    backend.free(rows)
    cache.dispose()
  }
}
