/** From tokens with timestamps to segments, and how far the window was heard (method of openai/whisper `transcribe.py`). */
import type { WhisperTokens } from './whisper-tokens.ts'

export interface TokenSegment {
  /** Seconds from the start of the window. */
  readonly start: number
  readonly end: number
  /** Text only. */
  readonly ids: readonly number[]
}

export interface HeardWindow {
  readonly segments: readonly TokenSegment[]
  /** Tokens of what was heard for good, timestamps included. */
  readonly ids: readonly number[]
  /** Seconds from the start of the window where the next one starts. */
  readonly heardSeconds: number
}

/** Each timestamp token is this much later than the one before. */
export const TIMESTAMP_SECONDS = 0.02

/** Least step from window to window, so that a file always comes to its end. */
const MIN_STEP_SECONDS = 1

/**
 * @param windowSeconds Length of the sound in the window.
 * @param isLast Nothing follows, so that no text is cut by the window's end.
 */
export function splitSegments(
  ids: readonly number[],
  { firstTimestamp }: Pick<WhisperTokens, 'firstTimestamp'>,
  windowSeconds: number,
  isLast: boolean,
): HeardWindow {
  const isTimestamp = (index: number): boolean => (ids[index] ?? -1) >= firstTimestamp
  const timeAt = (index: number): number => ((ids[index] as number) - firstTimestamp) * TIMESTAMP_SECONDS
  // A pair of timestamps ends one segment and starts the next.
  const cuts = ids
    .map((_, index) => index)
    .filter((index) => index > 0 && isTimestamp(index - 1) && isTimestamp(index))
  const endsWithOne = ids.length >= 2 && isTimestamp(ids.length - 1) && !isTimestamp(ids.length - 2)
  if (cuts.length === 0) {
    const last = ids.findLastIndex((_, index) => isTimestamp(index) && timeAt(index) > 0)
    const end = last < 0 ? windowSeconds : Math.min(timeAt(last), windowSeconds)
    return {
      segments: keepSpoken([{ start: 0, end, ids: textOf(ids, firstTimestamp) }]),
      ids,
      heardSeconds: windowSeconds,
    }
  }
  const endsWhole = endsWithOne || isLast
  const bounds = endsWhole ? [...cuts, ids.length] : cuts
  const segments = bounds.map((bound, index): TokenSegment => {
    const from = bounds[index - 1] ?? 0
    const end = isTimestamp(bound - 1) ? Math.min(timeAt(bound - 1), windowSeconds) : windowSeconds
    return { start: timeAt(from), end, ids: textOf(ids.slice(from, bound), firstTimestamp) }
  })
  // What comes behind the last pair was cut by the window's end and is heard again.
  const heard = endsWhole ? windowSeconds : timeAt((bounds.at(-1) as number) - 1)
  return {
    segments: keepSpoken(segments),
    ids: ids.slice(0, bounds.at(-1)),
    heardSeconds: heard < MIN_STEP_SECONDS ? windowSeconds : Math.min(heard, windowSeconds),
  }
}

function textOf(ids: readonly number[], firstTimestamp: number): number[] {
  return ids.filter((id) => id < firstTimestamp)
}

function keepSpoken(segments: readonly TokenSegment[]): TokenSegment[] {
  return segments.filter(({ start, end, ids }) => end > start && ids.length > 0)
}
