/** From the tokens of an answer to pieces to be said: the cleaner and the cutter in one. */
import { isSpeakable } from './scripts.ts'
import { type CutterOptions, SentenceCutter } from './sentence-cutter.ts'
import { type CleanOptions, SpokenTextCleaner } from './spoken-text.ts'

export class SpokenPieces {
  readonly #cleaner: SpokenTextCleaner
  readonly #cutter: SentenceCutter

  constructor(options: CleanOptions & CutterOptions = {}) {
    this.#cleaner = new SpokenTextCleaner(options)
    this.#cutter = new SentenceCutter(options)
  }

  /** @returns Pieces that can be said now, without spaces at their ends; often none. */
  push(text: string): string[] {
    return spoken(this.#cutter.push(this.#cleaner.push(text)))
  }

  /** For a stream that pauses: whole words so far. */
  flush(): string[] {
    return spoken(this.#cutter.flush())
  }

  finish(): string[] {
    return spoken([...this.#cutter.push(this.#cleaner.finish()), ...this.#cutter.finish()])
  }
}

function spoken(pieces: readonly string[]): string[] {
  return pieces.filter(isSpeakable).map((piece) => piece.trim())
}
