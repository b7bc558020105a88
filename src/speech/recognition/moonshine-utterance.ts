/** Text of one utterance by a Moonshine model: the likeliest token after the other. */
import { checkLogits } from '../../generation/check-logits.ts'
import { createRepetitionGuard } from '../../generation/repetition-guard.ts'
import { argmax } from '../../generation/sampler.ts'
import { MIN_SAMPLES, type MoonshineModel } from '../../models/moonshine/moonshine.ts'

export interface UtteranceRequest {
  /** 16 kHz. */
  readonly samples: Float32Array
  /** What the utterance was taken for before; as far as it still holds, it is not computed token by token. */
  readonly draft?: readonly number[]
  readonly onTokens?: ((ids: readonly number[]) => void) | undefined
  readonly signal: AbortSignal | undefined
}

export interface Utterance {
  /** Without the end token. */
  readonly ids: readonly number[]
  readonly encodeMs: number
  readonly decodeMs: number
}

const SAMPLE_RATE = 16000
/** Nobody says more, so this is the guard against loops. Source: moonshine-ai/moonshine `core/`. */
const TOKENS_PER_SECOND = 6.5
/** For the first syllable of something very short. */
const MIN_TOKENS = 3
const LOOP = { minTokens: 16, minRepeats: 5 }
/** -60 dB, the noise of a quiet microphone: the models make up words for it. */
const SILENCE_LEVEL = 0.001

/** Aborting rejects with an `AbortError`. */
export async function hearUtterance(
  model: MoonshineModel,
  { samples, draft = [], onTokens, signal }: UtteranceRequest,
): Promise<Utterance> {
  const start = performance.now()
  if (samples.length < MIN_SAMPLES || isSilent(samples)) return { ids: [], encodeMs: 0, decodeMs: 0 }
  await model.encode(samples, signal)
  const encoded = performance.now()
  const { startToken, endToken, positions } = model.config
  const seconds = samples.length / SAMPLE_RATE
  const most = Math.min(MIN_TOKENS + Math.ceil(seconds * TOKENS_PER_SECOND), positions - 1)
  const pending = await model.run([startToken, ...draft.slice(0, most - 1)], 0, 'all', signal)
  const guard = createRepetitionGuard(LOOP)
  const ids: number[] = []
  while (ids.length < most) {
    const logits = pending.shift() as Float32Array
    checkLogits(logits, ids.length + 1)
    const id = argmax(logits)
    if (id === endToken || guard.push(id)) break
    ids.push(id)
    onTokens?.(ids)
    // The rest of the draft was computed behind a token that turned out to be another one.
    if (id !== draft[ids.length - 1]) pending.length = 0
    if (pending.length === 0) pending.push(...(await model.run([id], ids.length, 'last', signal)))
  }
  return { ids, encodeMs: encoded - start, decodeMs: performance.now() - encoded }
}

function isSilent(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < SILENCE_LEVEL)
}
