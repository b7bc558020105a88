/** Text of tokens that arrive one by one. The pieces joined are exactly what decoding all tokens at once gives. */
export interface StreamingDecoder {
  /** The characters that `id` completes; empty while a character is still missing bytes. */
  push(id: number): string
  /** Ends the text: bytes that never became a character are U+FFFD. The decoder then starts afresh. */
  flush(): string
}

/**
 * @param bytesOf what a token adds to the text; empty for tokens that are left out
 * @param leadingSpaces how many spaces at the very start of the text are dropped
 */
export function createStreamingDecoder(
  bytesOf: (id: number) => Uint8Array,
  leadingSpaces: number,
): StreamingDecoder {
  // `ignoreBOM` keeps a byte order mark, which is a character like any other in a model's answer.
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  let spacesToDrop = leadingSpaces
  const dropSpaces = (text: string): string => {
    let start = 0
    while (spacesToDrop > 0 && start < text.length) {
      if (text[start] !== ' ') {
        spacesToDrop = 0
        break
      }
      start++
      spacesToDrop--
    }
    return start === 0 ? text : text.slice(start)
  }
  return {
    push: (id) => dropSpaces(utf8.decode(bytesOf(id), { stream: true })),
    flush: () => {
      const rest = dropSpaces(utf8.decode())
      spacesToDrop = leadingSpaces
      return rest
    },
  }
}
