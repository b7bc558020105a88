/** How likely answers and their tokens are. */

/**
 * A token and the natural logarithm of its probability under the model itself: before the repetition penalty, the
 * temperature and whatever else changes the choice.
 */
export interface TokenLogprob {
  readonly id: number
  /** What it adds to the text, parts of characters as U+FFFD; the name of a control token. */
  readonly text: string
  /** UTF-8 of `text`, where characters may be cut; of a control token those of its name. */
  readonly bytes: Uint8Array
  readonly logprob: number
}

/** A token of the answer with the likeliest ones at its place, falling. */
export interface ScoredAnswerToken extends TokenLogprob {
  readonly top: readonly TokenLogprob[]
}

/** One of the texts that an answer could be. */
export interface ChoiceProbability {
  readonly text: string
  /**
   * That the model answers with this text and ends there, as a share of all choices: over the tokens that the tokenizer
   * writes it with, with and without a space at the start where the space belongs to the prompt. All add up to 1.
   */
  readonly probability: number
}
