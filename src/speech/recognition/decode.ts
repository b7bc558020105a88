/** Tokens of one utterance, chosen one after the other, over sound that the model has encoded. */
import { checkLogits } from '../../generation/check-logits.ts'
import { createRepetitionGuard } from '../../generation/repetition-guard.ts'
import { argmax, createSampler } from '../../generation/sampler.ts'
import type { WhisperModel } from '../../models/whisper/whisper.ts'
import { applyTokenRules, logSumExp } from './token-rules.ts'
import type { WhisperTokens } from './whisper-tokens.ts'

export interface DecodeRequest {
  readonly model: WhisperModel
  readonly tokens: WhisperTokens
  /** Code of the language; undefined for models of English only. */
  readonly language: string | undefined
  /** Tokens of earlier text, at most `maxContextTokens`. */
  readonly context: readonly number[]
  readonly withTimestamps: boolean
  /** 0: the likeliest token; above, one is drawn. */
  readonly temperature: number
  readonly maxTokens: number
  /** What the utterance was taken for before; as far as it still holds, it is not computed token by token. */
  readonly draft?: readonly number[]
  /** Told the tokens so far after each one. */
  readonly onTokens?: ((ids: readonly number[]) => void) | undefined
  readonly signal: AbortSignal | undefined
}

/** Why decoding ended: the model said so, the cap, or a loop. */
export type DecodeEnd = 'end' | 'length' | 'loop'

export interface Decoded {
  /** Text and timestamps, without the end token. */
  readonly ids: readonly number[]
  readonly end: DecodeEnd
  /** Mean over the tokens, the end token included. */
  readonly averageLogprob: number
  /** Of the token that says that nobody spoke. */
  readonly noSpeechProbability: number
}

/** Loops of recognisers repeat a word or a short sentence; people rarely say anything five times in a row. */
const LOOP = { minTokens: 24, minRepeats: 5 }

/** Tokens of earlier text that fit: half of the positions, the rest is for the utterance. */
export function maxContextTokens(model: WhisperModel): number {
  return model.config.decoder.positions / 2 - 1
}

/** Most tokens of an utterance: half of the positions. */
export function maxUtteranceTokens(model: WhisperModel): number {
  return Math.floor(model.config.decoder.positions / 2)
}

/** Aborting rejects with an `AbortError`. */
export async function decodeUtterance(request: DecodeRequest): Promise<Decoded> {
  const { model, tokens, context, withTimestamps, temperature, draft = [], signal } = request
  const start = startTokens(request)
  const before = context.length > 0 ? [tokens.startOfPrevious, ...context] : []
  const first = before.length + start.length
  const maxTokens = Math.min(request.maxTokens, model.config.decoder.positions - first)
  if (before.length > 0) await model.run(before, 0, 'none', signal)
  const rows = await model.run([...start, ...draft.slice(0, maxTokens - 1)], before.length, 'all', signal)
  const noSpeechProbability = probability(rows[0] as Float32Array, tokens.noSpeech)
  const pending = rows.slice(start.length - 1)
  const sampler = createSampler({ ...DRAW, temperature })
  const guard = createRepetitionGuard(LOOP)
  const ids: number[] = []
  let total = 0
  const finish = (end: DecodeEnd): Decoded => ({
    ids,
    end,
    averageLogprob: total / (ids.length + 1),
    noSpeechProbability,
  })
  for (;;) {
    const logits = pending.shift() as Float32Array
    checkLogits(logits, first + ids.length)
    applyTokenRules(logits, ids, tokens, withTimestamps)
    const id = temperature === 0 ? argmax(logits) : sampler.next(logits, NOTHING)
    total += (logits[id] as number) - logSumExp(logits)
    if (id === tokens.endOfText) return finish('end')
    ids.push(id)
    request.onTokens?.(ids)
    if (guard.push(id)) return finish('loop')
    if (ids.length >= maxTokens) return finish('length')
    // The rest of the draft was computed behind a token that turned out to be another one.
    if (id !== draft[ids.length - 1]) pending.length = 0
    if (pending.length === 0) pending.push(...(await model.run([id], first + ids.length - 1, 'last', signal)))
  }
}

/** No seed of anybody's choosing: the same sound gives the same words. */
const DRAW = { topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, seed: 0 }
const NOTHING: ReadonlySet<number> = new Set()

function startTokens({ tokens, language, withTimestamps }: DecodeRequest): number[] {
  const ids = [tokens.startOfTranscript]
  const languageId = language === undefined ? undefined : tokens.languages.get(language)
  if (languageId !== undefined) ids.push(languageId)
  if (tokens.transcribe !== undefined) ids.push(tokens.transcribe)
  if (!withTimestamps) ids.push(tokens.noTimestamps)
  return ids
}

function probability(logits: Float32Array, id: number): number {
  return Math.exp((logits[id] as number) - logSumExp(logits))
}

export interface DetectedLanguage {
  readonly code: string
  readonly probability: number
}

/** Which language the encoded sound is in, among those the model knows. */
export async function detectLanguage(
  model: WhisperModel,
  { startOfTranscript, languages }: WhisperTokens,
  signal: AbortSignal | undefined,
): Promise<DetectedLanguage> {
  const [logits] = (await model.run([startOfTranscript], 0, 'last', signal)) as [Float32Array]
  checkLogits(logits, 1)
  const codes = [...languages.keys()]
  const scores = Float32Array.from(languages.values(), (id) => logits[id] as number)
  const best = argmax(scores)
  return { code: codes[best] as string, probability: probability(scores, best) }
}
