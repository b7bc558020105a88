/**
 * All tokens of a vocabulary as a tree over their bytes, laid flat in depth-first order: what follows a node lies right
 * behind it, so that a byte that may not come skips all tokens that begin so. Layout of llguidance's toktrie.
 */

/** The bytes of each token by its id; undefined or empty for tokens that may never come. */
export type TokenBytes = readonly (Uint8Array | undefined)[]

/**
 * Longer tokens are left out; all that they say can be said with shorter ones. Only runs of spaces and dashes are
 * longer, and what may follow need not be looked ahead for further than this.
 */
export const MAX_TOKEN_BYTES = 32

/** ASCII characters that texts of JSON hold as they are, as most tokens do from end to end. */
export function isPlainByte(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e && byte !== 0x22 && byte !== 0x5c
}

export class TokenTrie {
  /** The byte that leads to each node, and how many lead there. */
  readonly bytes: Uint8Array
  readonly depths: Uint8Array
  /** Behind the last node below. */
  readonly ends: Int32Array
  readonly parents: Int32Array
  /** The tokens that end at node i are `ids` from `tokens[i]` to `tokens[i + 1]`. */
  readonly tokens: Int32Array
  readonly ids: Int32Array
  /** 1 where all bytes below a node are plain, and how many of them stand behind each other at most. */
  readonly plainBelow: Uint8Array
  readonly reach: Uint8Array
  readonly vocabSize: number

  constructor(vocabulary: TokenBytes) {
    const ids = sortByBytes(vocabulary)
    const bytesOf = (id: number): Uint8Array => vocabulary[id] as Uint8Array
    const bytes: number[] = []
    const depths: number[] = []
    const parents: number[] = []
    const tokens: number[] = []
    const ends: number[] = []
    // Nodes on the way to the last token.
    const path: number[] = []
    let last: Uint8Array = new Uint8Array(0)
    for (const [place, id] of ids.entries()) {
      const word = bytesOf(id)
      let shared = 0
      while (shared < last.length && last[shared] === word[shared]) shared++
      for (const node of path.splice(shared)) ends[node] = bytes.length
      for (let depth = shared; depth < word.length; depth++) {
        parents.push(path.at(-1) ?? -1)
        path.push(bytes.length)
        depths.push(depth + 1)
        tokens.push(place)
        bytes.push(word[depth] as number)
      }
      last = word
    }
    for (const node of path) ends[node] = bytes.length
    this.vocabSize = vocabulary.length
    this.bytes = Uint8Array.from(bytes)
    this.depths = Uint8Array.from(depths)
    this.parents = Int32Array.from(parents)
    this.tokens = Int32Array.from([...tokens, ids.length])
    this.ends = Int32Array.from(ends)
    this.ids = Int32Array.from(ids)
    this.plainBelow = new Uint8Array(bytes.length).fill(1)
    this.reach = new Uint8Array(bytes.length)
    for (let node = bytes.length - 1; node >= 0; node--) {
      const parent = this.parents[node] as number
      if (parent < 0) continue
      if (!isPlainByte(bytes[node] as number) || this.plainBelow[node] === 0) this.plainBelow[parent] = 0
      this.reach[parent] = Math.max(this.reach[parent] as number, (this.reach[node] as number) + 1)
    }
  }

  /** The bytes from below `from`, -1 for the root, to `node`, each as one character. */
  textTo(node: number, from: number): string {
    let text = ''
    for (let at = node; at !== from; at = this.parents[at] as number) {
      text = String.fromCharCode(this.bytes[at] as number) + text
    }
    return text
  }
}

/** Ids of the tokens that are taken, ascending by their bytes; a beginning comes before what it begins. */
function sortByBytes(vocabulary: TokenBytes): number[] {
  const keys: string[] = []
  for (const [id, bytes] of vocabulary.entries()) {
    if (!bytes || bytes.length === 0 || bytes.length > MAX_TOKEN_BYTES) continue
    // Texts are sorted several times faster than ids by a function; 0 stands behind the bytes, which move up by one.
    keys.push(String.fromCharCode(...Array.from(bytes, (byte) => byte + 1), 0, id >>> 16, id & 0xffff))
  }
  return keys.sort().map((key) => key.charCodeAt(key.length - 2) * 2 ** 16 + key.charCodeAt(key.length - 1))
}
