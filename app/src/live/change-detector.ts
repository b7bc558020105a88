/**
 * Whether what the camera sees is another scene than the one that was looked at, judged on a picture of 32 x 24 greys.
 * Light that goes up and down is no change: brightness and contrast of both pictures are brought together first. Pure.
 * The thresholds are measured: docs/app-live.md.
 */

export const CELLS_WIDE = 32
export const CELLS_HIGH = 24
const CELLS = CELLS_WIDE * CELLS_HIGH

export interface ChangeSettings {
  /** Mean difference of all cells above which the scene is another one, of 255. */
  readonly meanDifference: number
  /** Difference above which a cell counts as changed, of 255. */
  readonly cellDifference: number
  /** Share of changed cells above which the scene is another one: something came or went in one place. */
  readonly changedShare: number
  /** How long the camera must rest on a scene before it is worth a look, in milliseconds. */
  readonly stableMs: number
}

export const CHANGE_SETTINGS: ChangeSettings = {
  meanDifference: 6,
  cellDifference: 30,
  changedShare: 0.05,
  stableMs: 300,
}

export interface Difference {
  /** Mean over all cells, of 255. */
  readonly mean: number
  /** Of cells that differ by more than `cellDifference`, 0 to 1. */
  readonly share: number
}

/** Contrast of a camera that adjusts itself moves within this; a larger ratio is another scene. */
const LEAST_GAIN = 0.6
/** Cells this close to black or white may be anything beyond it, and say nothing of light. */
const CLIPPED = 6
/** Fewer cells than these say too little of light: it is then taken as it was. */
const LEAST_LIT_CELLS = 96

/** @param before Greys of 0 to 255, row by row (32 x 24). */
export function differenceOf(
  before: Uint8Array,
  now: Uint8Array,
  cellDifference = CHANGE_SETTINGS.cellDifference,
): Difference {
  const light = lightBetween(before, now)
  let sum = 0
  let changed = 0
  for (let at = 0; at < CELLS; at++) {
    const expected = Math.min(255, Math.max(0, light.gain * (before[at] ?? 0) + light.bias))
    const difference = Math.abs((now[at] ?? 0) - expected)
    sum += difference
    if (difference > cellDifference) changed++
  }
  return { mean: sum / CELLS, share: changed / CELLS }
}

/** The contrast and brightness that make `before` most like `now` (least squares), within what a camera's exposure does. */
function lightBetween(before: Uint8Array, now: Uint8Array): { readonly gain: number; readonly bias: number } {
  let count = 0
  let sumBefore = 0
  let sumNow = 0
  let sumSquares = 0
  let sumProducts = 0
  for (let at = 0; at < CELLS; at++) {
    const a = before[at] ?? 0
    const b = now[at] ?? 0
    if (isClipped(a) || isClipped(b)) continue
    count++
    sumBefore += a
    sumNow += b
    sumSquares += a * a
    sumProducts += a * b
  }
  if (count < LEAST_LIT_CELLS) return { gain: 1, bias: 0 }
  const spread = sumSquares - (sumBefore * sumBefore) / count
  // An even surface has no contrast to compare.
  const ratio = spread < count ? 1 : (sumProducts - (sumBefore * sumNow) / count) / spread
  const gain = Math.min(1 / LEAST_GAIN, Math.max(LEAST_GAIN, ratio))
  return { gain, bias: (sumNow - gain * sumBefore) / count }
}

const isClipped = (grey: number): boolean => grey < CLIPPED || grey > 255 - CLIPPED

export function isChange({ mean, share }: Difference, settings = CHANGE_SETTINGS): boolean {
  return mean > settings.meanDifference || share > settings.changedShare
}

export interface SceneState {
  /** Differs from the scene that was looked at last; true while none was. */
  readonly isChanged: boolean
  /** The camera rests on it. */
  readonly isStable: boolean
}

export class ChangeDetector {
  readonly #settings: ChangeSettings
  #seen: Uint8Array | undefined
  #anchor: Uint8Array | undefined
  #stableSince = 0
  #newest: Uint8Array | undefined

  constructor(settings: Partial<ChangeSettings> = {}) {
    this.#settings = { ...CHANGE_SETTINGS, ...settings }
  }

  /** @param cells Greys of 0 to 255, row by row (32 x 24). @param at Milliseconds from any beginning. */
  push(cells: Uint8Array, at: number): SceneState {
    this.#newest = cells
    // Held against where it came to rest, not against the frame before: slow turns add up.
    if (!this.#anchor || this.#differs(this.#anchor, cells)) {
      this.#anchor = cells
      this.#stableSince = at
    }
    return {
      isChanged: !this.#seen || this.#differs(this.#seen, cells),
      isStable: at - this.#stableSince >= this.#settings.stableMs,
    }
  }

  /** The newest frame is being looked at: what comes is held against it. */
  markSeen(): void {
    this.#seen = this.#newest
  }

  /** Nothing was seen yet: the next stable scene counts as changed. */
  forget(): void {
    this.#seen = undefined
    this.#anchor = undefined
  }

  #differs(before: Uint8Array, now: Uint8Array): boolean {
    return isChange(differenceOf(before, now, this.#settings.cellDifference), this.#settings)
  }
}
