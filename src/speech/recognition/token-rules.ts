/**
 * Which tokens may come next. Method of openai/whisper `decoding.py`: suppressed tokens, then the rules of timestamps,
 * which come in pairs (the end of a segment, the start of the next) and never go back.
 */
import type { WhisperTokens } from './whisper-tokens.ts'

const NEVER = Number.NEGATIVE_INFINITY

/** The first segment begins within the first second. */
const MAX_FIRST_TIMESTAMP = 50

/** Sets the logits of tokens that may not follow `ids` to minus infinity. */
export function applyTokenRules(
  logits: Float32Array,
  ids: readonly number[],
  tokens: WhisperTokens,
  withTimestamps: boolean,
): void {
  if (ids.length === 0) for (const id of tokens.suppressedAtStart) logits[id] = NEVER
  for (const id of tokens.suppressed) logits[id] = NEVER
  if (withTimestamps) applyTimestampRules(logits, ids, tokens)
  else logits.fill(NEVER, tokens.noTimestamps)
}

function applyTimestampRules(logits: Float32Array, ids: readonly number[], tokens: WhisperTokens): void {
  const { noTimestamps, firstTimestamp, endOfText } = tokens
  const isTimestamp = (id: number | undefined): boolean => id !== undefined && id >= firstTimestamp
  logits[noTimestamps] = NEVER
  const endsWithTimestamp = isTimestamp(ids.at(-1))
  const endsWithPair = endsWithTimestamp && (ids.length < 2 || isTimestamp(ids.at(-2)))
  if (endsWithPair) logits.fill(NEVER, firstTimestamp)
  else if (endsWithTimestamp) logits.fill(NEVER, 0, endOfText)
  const last = ids.findLast(isTimestamp)
  if (last !== undefined) {
    // A pair may share one time; a segment takes some.
    const next = endsWithTimestamp && !endsWithPair ? last : last + 1
    logits.fill(NEVER, firstTimestamp, next)
  }
  if (ids.length === 0) {
    logits.fill(NEVER, 0, firstTimestamp)
    logits.fill(NEVER, firstTimestamp + MAX_FIRST_TIMESTAMP + 1)
  }
  if (favoursTimestamp(logits, firstTimestamp)) logits.fill(NEVER, 0, firstTimestamp)
}

/** Whether all timestamps together are likelier than the likeliest token of text. */
function favoursTimestamp(logits: Float32Array, firstTimestamp: number): boolean {
  let text = NEVER
  for (let id = 0; id < firstTimestamp; id++) text = Math.max(text, logits[id] as number)
  return logSumExp(logits, firstTimestamp) > text
}

/** `log(sum(exp(logits)))` of the ids from `first` on. */
export function logSumExp(logits: Float32Array, first = 0): number {
  let highest = NEVER
  for (let id = first; id < logits.length; id++) {
    const logit = logits[id] as number
    if (logit > highest) highest = logit
  }
  if (highest === NEVER) return NEVER
  let sum = 0
  for (let id = first; id < logits.length; id++) {
    const below = (logits[id] as number) - highest
    // What is left out is below 1e-10 of the sum, even 50,000 times.
    if (below > -34) sum += Math.exp(below)
  }
  return highest + Math.log(sum)
}
