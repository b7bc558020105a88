import { EngineError } from '../shared/errors.ts'

/** Cuts a stream of text at the first stop string, wherever the pieces are cut. */
export interface StopStringFilter {
  /** What may be shown now. `stopped`: a stop string has come; it and all that follows is swallowed. */
  push(text: string): { emit: string; stopped: boolean }
  /** What was held back because it might have become a stop string; empty after a stop. The filter then starts afresh. */
  flush(): string
}

/** Holds back no more than the longest possible beginning of a stop string. With no stop strings everything passes. */
export function createStopStringFilter(stops: readonly string[]): StopStringFilter {
  if (stops.includes('')) {
    throw new EngineError('option/stop', {
      message: 'A stop string is empty; expected at least one character.',
      hint: 'Leave it out to let the answer end by itself.',
    })
  }
  const longest = Math.max(0, ...stops.map((stop) => stop.length))
  let held = ''
  let stopped = false
  return {
    push: (text) => {
      if (stopped) return { emit: '', stopped }
      const seen = held + text
      const cut = findFirstStop(seen, stops)
      stopped = cut >= 0
      const shown = stopped ? cut : seen.length - heldLength(seen, stops, longest)
      held = stopped ? '' : seen.slice(shown)
      return { emit: seen.slice(0, shown), stopped }
    },
    flush: () => {
      const rest = held
      held = ''
      stopped = false
      return rest
    },
  }
}

/** Where the stop string begins that is complete first, the longest of those; -1 without one. So the cut does not depend on the pieces. */
function findFirstStop(text: string, stops: readonly string[]): number {
  let start = -1
  let end = Number.POSITIVE_INFINITY
  for (const stop of stops) {
    const found = text.indexOf(stop)
    const foundEnd = found + stop.length
    if (found >= 0 && (foundEnd < end || (foundEnd === end && found < start))) {
      start = found
      end = foundEnd
    }
  }
  return start
}

/** Length of the longest end of `text` that begins a stop string. */
function heldLength(text: string, stops: readonly string[], longest: number): number {
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const end = text.slice(-length)
    if (stops.some((stop) => stop.startsWith(end))) return length
  }
  return 0
}
