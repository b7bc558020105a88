/** From token strings to the bytes of text they stand for. Source of the byte alphabet: GPT-2's released encoder. */

/** How a vocabulary writes text. */
export type TokenSpelling =
  /** Each character is one byte, in the alphabet of GPT-2. */
  | { readonly kind: 'byte-level' }
  /**
   * Plain text with `replacement` for spaces (SentencePiece). `byteTokens`: `<0xNN>` stands for one byte.
   * `leadingSpaces`: how many spaces at the very start of decoded text are dropped.
   */
  | {
      readonly kind: 'sentence-piece'
      readonly replacement: string
      readonly byteTokens: boolean
      readonly leadingSpaces: number
    }

const NO_BYTE = 0xffff
/** Byte of each character of the byte-level alphabet, by code point. */
const BYTE_OF_CHARACTER = createByteAlphabet()
const CHARACTER_OF_BYTE = invert(BYTE_OF_CHARACTER)
const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/
const UTF8 = new TextEncoder()

function createByteAlphabet(): Uint16Array {
  const table = new Uint16Array(512).fill(NO_BYTE)
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    table[isPrintable ? byte : next++] = byte
  }
  return table
}

function invert(alphabet: Uint16Array): readonly string[] {
  const characters: string[] = []
  alphabet.forEach((byte, code) => {
    if (byte !== NO_BYTE) characters[byte] = String.fromCharCode(code)
  })
  return characters
}

/** The UTF-8 bytes of `text`, each as its character of the byte-level alphabet. */
export function spellBytes(text: string): string {
  return spellTokenBytes(UTF8.encode(text))
}

/** Bytes as characters of the byte-level alphabet. */
export function spellTokenBytes(bytes: Uint8Array): string {
  let spelled = ''
  for (const byte of bytes) spelled += CHARACTER_OF_BYTE[byte]
  return spelled
}

/** The bytes that `token` adds to decoded text. Not for added tokens: those stand for their own characters. */
export function encodeTokenBytes(token: string, spelling: TokenSpelling): Uint8Array {
  if (spelling.kind === 'byte-level') return encodeByteLevel(token)
  if (spelling.byteTokens) {
    const byte = parseByteToken(token)
    if (byte !== undefined) return Uint8Array.of(byte)
  }
  return UTF8.encode(token.replaceAll(spelling.replacement, ' '))
}

/** The byte that a token such as `<0x0A>` stands for. */
export function parseByteToken(token: string): number | undefined {
  const digits = BYTE_TOKEN.exec(token)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

/** The spelling of byte tokens in vocabularies: `<0x0A>`. */
export function formatByteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`
}

function encodeByteLevel(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length)
  for (let index = 0; index < token.length; index++) {
    const byte = BYTE_OF_CHARACTER[token.charCodeAt(index)] ?? NO_BYTE
    // A token outside the alphabet is ordinary text that somebody added to the vocabulary.
    if (byte === NO_BYTE) return UTF8.encode(token)
    bytes[index] = byte
  }
  return bytes
}
