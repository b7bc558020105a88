/** Sound of a long clip that the page sends piece by piece, each when the recogniser wants it. */
import type { AudioClip } from 'onsight/speech'

export class SoundFromPage {
  readonly #want: () => void
  #waiting: { resolve(clip: AudioClip | undefined): void; reject(error: unknown): void } | undefined
  #isOver = false

  /** @param want Asks the page for the next piece. */
  constructor(want: () => void) {
    this.#want = want
  }

  async *pieces(): AsyncGenerator<AudioClip, void, undefined> {
    while (!this.#isOver) {
      const clip = await new Promise<AudioClip | undefined>((resolve, reject) => {
        this.#waiting = { resolve, reject }
        this.#want()
      })
      if (clip === undefined) return
      yield clip
    }
  }

  /** What the page answered: a piece, the end, or why it could not be read. */
  receive(clip: AudioClip | undefined, error: unknown): void {
    if (error === undefined) this.#waiting?.resolve(clip)
    else this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  end(): void {
    this.#isOver = true
    this.#waiting?.resolve(undefined)
    this.#waiting = undefined
  }
}
