/** One run with every stage kept, by the names of the reference vectors (test/golden/make_golden.py). */
import type { DeviceBuffer } from '../backend/backend.ts'
import { argmax } from '../generation/sampler.ts'
import { type Prompt, TokenSession } from '../generation/token-session.ts'
import { patchGrid } from '../models/model-config.ts'
import { EngineError } from '../shared/errors.ts'
import { buildChatPrompt, buildRawPrompt } from './build-prompt.ts'
import { ANY_RULE, checkOptions, type OptionRules, TEXT_RULE, wholeNumberRule } from './check-options.ts'
import { DETAIL_RULE } from './generation-options.ts'
import type { LoadedModel } from './loaded-model.ts'
import { encodePicture, type Picture, preparePicture, requireEncoder } from './picture.ts'
import type { TraceRequest, TraceTensor } from './types.ts'

const DEFAULT_GREEDY_TOKENS = 64
/** More would only take time: the reference vectors have 64. */
const MAX_GREEDY_TOKENS = 65536

const RULES = {
  ask: TEXT_RULE,
  prompt: TEXT_RULE,
  image: ANY_RULE, // checked where it is read
  detail: DETAIL_RULE,
  greedyTokens: wholeNumberRule(0, MAX_GREEDY_TOKENS, `a whole number from 0 to ${MAX_GREEDY_TOKENS}`),
} satisfies OptionRules

export async function runTrace(loaded: LoadedModel, request: TraceRequest): Promise<TraceTensor[]> {
  checkOptions(request, RULES, 'for a trace')
  if ((request.ask === undefined) === (request.prompt === undefined)) {
    throw new EngineError('option/invalid', {
      message: 'A trace needs either a question ("ask") or a raw prompt ("prompt"), and not both.',
    })
  }
  const tensors: TraceTensor[] = []
  const pictures: Picture[] = []
  try {
    if (request.image !== undefined) pictures.push(await tracePicture(loaded, request, tensors))
    const prompt = buildPrompt(loaded, request, pictures)
    tensors.unshift({ name: 'input_ids', shape: [prompt.ids.length], data: Int32Array.from(prompt.ids) })
    tensors.push(...(await traceDecoder(loaded, prompt)))
    tensors.push(await traceGreedy(loaded, prompt, request.greedyTokens ?? DEFAULT_GREEDY_TOKENS))
    return tensors
  } finally {
    for (const { features } of pictures) loaded.backend.free(features)
  }
}

function buildPrompt(
  loaded: LoadedModel,
  { ask, prompt, image }: TraceRequest,
  pictures: readonly Picture[],
): Prompt {
  if (prompt !== undefined) return buildRawPrompt(loaded, prompt, pictures)
  const content = [
    ...(image === undefined ? [] : [{ type: 'image' as const }]),
    { type: 'text' as const, text: ask ?? '' },
  ]
  return buildChatPrompt(loaded, [{ role: 'user', content }], pictures)
}

/** Encodes the picture; adds `pixel_values`, `vision` and `image_features`. */
async function tracePicture(
  loaded: LoadedModel,
  request: TraceRequest,
  tensors: TraceTensor[],
): Promise<Picture> {
  const { backend } = loaded
  const { vision, tokensPerFrame } = requireEncoder(loaded)
  const prepared = await preparePicture(loaded, request.image as NonNullable<TraceRequest['image']>, {
    detail: request.detail ?? 'high',
  })
  const { frames } = prepared
  const count = frames.frames.length
  const frameLength = 3 * frames.frameHeight * frames.frameWidth
  const pixels = new Float32Array(count * frameLength)
  for (let frame = 0; frame < count; frame++) {
    frames.pixelValues(frame, pixels.subarray(frame * frameLength, (frame + 1) * frameLength))
  }
  const patches = patchGrid(vision) ** 2
  const stage = backend.alloc(count * patches * vision.dim * 4)
  try {
    const steps = encodePicture(loaded, prepared, undefined, {
      onPatches(frame, source) {
        const out = stage.at(frame * patches * vision.dim * 4)
        backend.enqueue('copyRows', { source, out, rows: patches, columns: vision.dim })
      },
    })
    let step = await steps.next()
    while (!step.done) step = await steps.next()
    const picture = step.value
    const { dim } = loaded.model.config.decoder
    tensors.push(
      { name: 'pixel_values', shape: [count, 3, frames.frameHeight, frames.frameWidth], data: pixels },
      { name: 'vision', shape: [count, patches, vision.dim], data: await readFloats(loaded, stage) },
      {
        name: 'image_features',
        shape: [count, tokensPerFrame, dim],
        data: await readFloats(loaded, picture.features),
      },
    )
    return picture
  } finally {
    backend.free(stage)
  }
}

/** `hidden.<i>` before each layer and behind the final norm, and `logits`, of the whole prompt. */
async function traceDecoder(loaded: LoadedModel, prompt: Prompt): Promise<TraceTensor[]> {
  const { backend, model, queue } = loaded
  const { dim, layers, vocabSize } = model.config.decoder
  const length = prompt.ids.length
  const cache = model.createCache()
  const passTokens = model.decoder.maxTokens
  const stages: DeviceBuffer[] = []
  try {
    for (let index = 0; index <= layers; index++) stages.push(backend.alloc(length * dim * 4))
    const logits = new Float32Array(length * vocabSize)
    const rows = backend.alloc(Math.min(length, passTokens) * vocabSize * 4)
    stages.push(rows)
    await queue.run(async () => {
      await cache.reserve(length, 0)
      for (let start = 0; start < length; start += passTokens) {
        const end = Math.min(start + passTokens, length)
        model.decoder.run({
          ids: Int32Array.from(prompt.ids.slice(start, end)),
          replacements: prompt.images.flatMap((span) => {
            const first = Math.max(span.at, start)
            const count = Math.min(span.at + span.rows, end) - first
            const byteOffset = span.features.byteOffset + (first - span.at) * dim * 4
            return count > 0
              ? [{ at: first - start, rows: count, source: { buffer: span.features.buffer, byteOffset } }]
              : []
          }),
          position: start,
          cache,
          want: 'all',
          logits: rows,
          onHidden(index, source) {
            const out = (stages[index] as DeviceBuffer).at(start * dim * 4)
            backend.enqueue('copyRows', { source, out, rows: end - start, columns: dim })
          },
        })
        const bytes = await backend.read(rows, (end - start) * vocabSize * 4)
        logits.set(new Float32Array(bytes.buffer), start * vocabSize)
      }
    })
    const tensors: TraceTensor[] = []
    for (let index = 0; index <= layers; index++) {
      const data = await readFloats(loaded, stages[index] as DeviceBuffer)
      tensors.push({ name: `hidden.${index}`, shape: [length, dim], data })
    }
    tensors.push({ name: 'logits', shape: [length, vocabSize], data: logits })
    return tensors
  } finally {
    for (const stage of stages) backend.free(stage)
    cache.dispose()
  }
}

/** `greedy`: the likeliest continuation, stop tokens left out of the choice as the reference does when it must go on. */
async function traceGreedy(loaded: LoadedModel, prompt: Prompt, count: number): Promise<TraceTensor> {
  const session = new TokenSession(loaded.model, loaded.queue)
  const ids = new Int32Array(count)
  try {
    const passes = session.prefill(prompt)
    let step = await passes.next()
    while (!step.done) step = await passes.next()
    let logits = step.value
    for (let index = 0; index < count; index++) {
      const id = argmax(logits)
      ids[index] = id
      if (index + 1 < count) logits = (await session.step(id)).logits
    }
  } finally {
    session.dispose()
  }
  return { name: 'greedy', shape: [count], data: ids }
}

async function readFloats({ backend }: LoadedModel, buffer: DeviceBuffer): Promise<Float32Array> {
  return new Float32Array((await backend.read(buffer, buffer.byteLength)).buffer)
}
