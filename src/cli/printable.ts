/** Keeps names and texts of unknown origin from steering the terminal. */

/** For one line: no control characters (line breaks become spaces), nothing that turns the writing direction. */
export function printableLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
}

/** For running text: line breaks and tabs stay. */
export function printableText(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => (character === '\n' || character === '\t' ? character : ''))
}
