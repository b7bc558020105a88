/**
 * The language of a schema. A place says what may be written next: words, and what follows each. What follows is a stack
 * of places, since values stand within values.
 */
import type { Lexeme } from './lexeme.ts'

export interface Alternative {
  readonly lexeme: Lexeme
  /** Levels that what follows must still be able to open. */
  readonly height: number
  /** Whether `follow` needs the bytes of the lexeme, each as one character. */
  readonly tracksText: boolean
  /** Places for the stack, the next one last; none when the value is complete. Undefined when the text may not stand here. */
  follow(text: string): readonly Place[] | undefined
}

export class Place {
  readonly #list: () => readonly Alternative[]
  #alternatives: readonly Alternative[] | undefined

  /** @param list Asked once, when the place is first reached. */
  constructor(list: () => readonly Alternative[]) {
    this.#list = list
  }

  get alternatives(): readonly Alternative[] {
    this.#alternatives ??= this.#list()
    return this.#alternatives
  }
}

export function word(lexeme: Lexeme, follow: readonly Place[] = [], height = 0): Alternative {
  return { lexeme, height, tracksText: false, follow: () => follow }
}
