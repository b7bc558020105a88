/*
 * The first stage of the gate, and the only one that runs in silence: is this louder than what the room sounds like?
 * A few operations for each sample, no transform, no network.
 */

/** Speech has most of its energy here; hum lies below, hiss above. Corners of two filters of first order. */
const LOW_HZ = 250
const HIGH_HZ = 3500
const SAMPLE_RATE = 16000

export interface LevelSettings {
  /** Decibels above the floor from which on somebody may be speaking. Default 6. */
  readonly openDb?: number
  /** Full scale is 0. Quieter frames open nothing: it is the microphone's own noise. Default -66. */
  readonly lowestDb?: number
}

/**
 * The floor goes down with the first quiet frame of a pause, and up so slowly that a sentence does not lift it; noise
 * that goes on does, within seconds.
 */
const FALL_SHARE = 0.3
const RISE_DB_PER_SECOND = 3
/** Where the floor begins: taken as quiet until it is known, so that the first word is not lost. */
const FIRST_FLOOR_DB = -72

export class LevelCheck {
  readonly #openDb: number
  readonly #lowestDb: number
  readonly #highPass = Math.exp((-2 * Math.PI * LOW_HZ) / SAMPLE_RATE)
  readonly #lowPass = 1 - Math.exp((-2 * Math.PI * HIGH_HZ) / SAMPLE_RATE)
  #previous = 0
  #high = 0
  #band = 0
  #floorDb = FIRST_FLOOR_DB

  constructor({ openDb = 6, lowestDb = -66 }: LevelSettings = {}) {
    this.#openDb = openDb
    this.#lowestDb = lowestDb
  }

  get floorDb(): number {
    return this.#floorDb
  }

  /** True when these samples of 16 kHz are loud enough to be somebody. */
  hear(samples: Float32Array): boolean {
    let previous = this.#previous
    let high = this.#high
    let band = this.#band
    let energy = 0
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i] as number
      high = this.#highPass * (high + sample - previous)
      previous = sample
      band += this.#lowPass * (high - band)
      energy += band * band
    }
    this.#previous = previous
    this.#high = high
    this.#band = band
    const db = 10 * Math.log10(energy / samples.length + 1e-10)
    const isOpen = db > this.#floorDb + this.#openDb && db > this.#lowestDb
    const rise = (RISE_DB_PER_SECOND * samples.length) / SAMPLE_RATE
    this.#floorDb +=
      db < this.#floorDb ? FALL_SHARE * (db - this.#floorDb) : Math.min(rise, db - this.#floorDb)
    return isOpen
  }

  reset(): void {
    this.#previous = 0
    this.#high = 0
    this.#band = 0
    this.#floorDb = FIRST_FLOOR_DB
  }
}
