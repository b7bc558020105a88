/**
 * Whether somebody speaks while we do, or whether the microphone hears our own voice. Pure. Two filters: the gate must
 * hear speech for long enough, and the sound must rise above what our voice makes of it, which is learned while it
 * sounds. The third, what is said, is in `echo-match.ts`.
 */

export interface BargeInSettings {
  /** Speech, as the gate hears it, louder than our echo. Default 250. */
  readonly sustainedMs: number
  /** How much louder. Default 1.5. */
  readonly ratio: number
  /** Half-life of the running mean of the microphone. Default 400. */
  readonly halfLifeMs: number
  /** Before our voice has sounded for so long, all that is heard counts as its echo. Default 600. */
  readonly learningMs: number
  /** How long our voice may echo after it ended. Default 300. */
  readonly tailMs: number
}

export const BARGE_IN_DEFAULTS: BargeInSettings = {
  sustainedMs: 250,
  ratio: 1.5,
  halfLifeMs: 400,
  learningMs: 600,
  tailMs: 300,
}

/** What the microphone gave in a short time. */
export interface HeardFrame {
  readonly durationMs: number
  /** RMS of the samples. */
  readonly level: number
  /** Whether the gate is in speech. */
  readonly isSpeech: boolean
  /** Whether our voice sounds. */
  readonly isPlaying: boolean
  /** RMS of what we play, where it is known. */
  readonly playedLevel?: number | undefined
}

/** Below this, about -60 dB, nothing is played and nothing echoes. */
const FLOOR = 0.001
/** How slowly a loud echo is forgotten: by half in 20 s, as when the volume is turned down. */
const FORGET_HALF_LIFE_MS = 20_000
/** Something above the echo is learned as echo, too, but slowly. */
const SLOW = 0.25

export class BargeInDetector {
  readonly #settings: BargeInSettings
  /** Running mean of the microphone while our voice sounds. */
  #mean = 0
  /** The largest share of the played level that came back. */
  #coupling = 0
  #learnedMs = 0
  /** The loudest of what was taken for a person. */
  #suspectedShare = 0
  #speechMs = 0
  #loudMs = 0
  /** Played levels of the last moments, as the echo comes late. */
  #played: { readonly level: number; readonly ageMs: number }[] = []

  constructor(settings: BargeInSettings) {
    this.#settings = settings
  }

  /** @returns Whether somebody interrupts; true until they fall silent. */
  push(frame: HeardFrame): boolean {
    const { durationMs, level, isSpeech } = frame
    const { sustainedMs, ratio, learningMs } = this.#settings
    this.#speechMs = isSpeech ? this.#speechMs + durationMs : 0
    const played = this.#recentPlayed(frame)
    if (played < FLOOR) {
      this.#loudMs = 0
      return this.#speechMs >= sustainedMs
    }
    const isAbove =
      this.#learnedMs >= learningMs &&
      level > FLOOR &&
      level > ratio * Math.max(this.#mean, this.#coupling * played)
    if (isAbove) this.#suspectedShare = Math.max(this.#suspectedShare, level / played)
    else this.#coupling = Math.max(this.#coupling * 0.5 ** (durationMs / FORGET_HALF_LIFE_MS), level / played)
    const keep = 0.5 ** ((durationMs * (isAbove ? SLOW : 1)) / this.#settings.halfLifeMs)
    this.#mean = this.#mean * keep + level * (1 - keep)
    this.#learnedMs += durationMs
    // Dips between syllables take back, they do not begin again.
    const isPerson = isAbove && isSpeech
    this.#loudMs = isPerson ? this.#loudMs + durationMs : Math.max(0, this.#loudMs - durationMs)
    return this.#loudMs >= sustainedMs && this.#speechMs >= sustainedMs
  }

  /** Begins to count anew; what was learned of the echo stays. */
  rest(): void {
    this.#speechMs = 0
    this.#loudMs = 0
    this.#suspectedShare = 0
  }

  /** What was suspected was our echo, which must have grown louder. */
  learnSuspected(): void {
    this.#coupling = Math.max(this.#coupling, this.#suspectedShare)
    this.rest()
  }

  /** The loudest that we played within the tail; 1 where only is known that we played. */
  #recentPlayed({ durationMs, isPlaying, playedLevel }: HeardFrame): number {
    const level = isPlaying ? (playedLevel ?? 1) : 0
    this.#played = [
      ...this.#played.map((past) => ({ ...past, ageMs: past.ageMs + durationMs })),
      { level, ageMs: 0 },
    ].filter(({ ageMs }) => ageMs <= this.#settings.tailMs)
    return Math.max(...this.#played.map((past) => past.level))
  }
}
