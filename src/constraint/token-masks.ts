/** Which tokens may come next: the tree of tokens is walked along with the grammar. */
import type { Dfa } from './dfa.ts'
import type { Grammar, GrammarState, Head } from './grammar-state.ts'
import type { LengthRule } from './length-rule.ts'
import type { Lexeme } from './lexeme.ts'
import { MAX_TOKEN_BYTES, type TokenTrie } from './token-trie.ts'

/** Bit `id % 32` of word `id / 32` is set for tokens that may come. */
export type TokenMask = Uint32Array

/** What a walk from a place within a word finds, whatever comes behind the word. */
interface WordWalk {
  /** Tokens that end within the word. */
  readonly inside: TokenMask
  /** Nodes at which the word is complete. */
  readonly exits: Int32Array
}

/** Walks that are kept: a bit for each token. */
const MAX_KNOWN = 500

/** The same for places from which the same tokens may come: limits of length that no token reaches do not matter. */
function keyOf({ id, lengths }: Lexeme, state: number, count: number): string {
  if (!lengths || lengths.isFar(count, MAX_TOKEN_BYTES)) return `${state}`
  if (!lengths.isFree) return `${state} ${id} ${count}`
  const near = (limit: number): number => Math.min(Math.max(0, limit - count), MAX_TOKEN_BYTES + 1)
  return `${state} ${near(lengths.least)} ${near(lengths.most)}`
}

/** Shared by all answers of a vocabulary, since words do not depend on the schema around them. */
export class WordWalks {
  readonly trie: TokenTrie
  readonly #known = new Map<Dfa, Map<string, WordWalk>>()
  #kept = 0
  // State, count and node at each depth of the walk.
  readonly #states = new Int32Array(MAX_TOKEN_BYTES + 1)
  readonly #counts = new Int32Array(MAX_TOKEN_BYTES + 1)

  constructor(trie: TokenTrie) {
    this.trie = trie
  }

  /** From a place within a word, over all tokens. */
  fromRoot(head: Head, state: number, count: number): WordWalk {
    const { lexeme } = head.alternative
    const key = keyOf(lexeme, state, count)
    let known = this.#known.get(lexeme.dfa)
    const walk = known?.get(key)
    if (walk) return walk
    if (this.#kept === MAX_KNOWN) {
      this.#known.clear()
      this.#kept = 0
      known = undefined
    }
    const inside = createMask(this.trie)
    const exits = Int32Array.from(this.walk(head, state, count, -1, inside))
    if (!known) {
      known = new Map()
      this.#known.set(lexeme.dfa, known)
    }
    known.set(key, { inside, exits })
    this.#kept++
    return { inside, exits }
  }

  /** Over the tokens that go on from `node`, -1 for all. Returns the nodes at which the word is complete. */
  walk(
    { alternative: { lexeme } }: Head,
    state: number,
    count: number,
    node: number,
    inside: TokenMask,
  ): number[] {
    const { bytes, depths, ends, tokens, ids, plainBelow, reach } = this.trie
    const { table, classes, classOf, accepts } = lexeme.dfa
    const { lengths, goesOn, staysOnPlain } = lexeme
    const states = this.#states
    const counts = this.#counts
    const base = node < 0 ? 0 : (depths[node] as number)
    const last = node < 0 ? bytes.length : (ends[node] as number)
    const exits: number[] = []
    states[base] = state
    counts[base] = count
    // This loop is the cost of a mask: everything in it is a typed array.
    for (let at = node + 1; at < last; ) {
      const depth = depths[at] as number
      const before = states[depth - 1] as number
      const next = table[before * classes + (classOf[bytes[at] as number] as number)] as number
      if (next < 0 || (lengths && !this.#keepsLength(lengths, before, next, depth))) {
        at = ends[at] as number
        continue
      }
      if (accepts[next] === 1) exits.push(at)
      if (goesOn[next] === 0) {
        at = ends[at] as number
        continue
      }
      // Where all that follows stays in this state, it need not be looked at.
      const after =
        staysOnPlain[next] === 1 && plainBelow[at] === 1 && this.#hasRoom(lengths, reach[at] as number, depth)
          ? (ends[at] as number)
          : at + 1
      const end = tokens[after] as number
      for (let place = tokens[at] as number; place < end; place++) {
        const id = ids[place] as number
        inside[id >>> 5] = (inside[id >>> 5] as number) | (1 << (id & 31))
      }
      states[depth] = next
      at = after
    }
    return exits
  }

  /** Whether so many plain characters may follow what stands at `depth`. */
  #hasRoom(lengths: LengthRule | undefined, characters: number, depth: number): boolean {
    if (!lengths) return true
    return lengths.isFree && (this.#counts[depth] as number) + characters <= lengths.most
  }

  /** Whether the step to `depth` keeps the limits of length. */
  #keepsLength(lengths: LengthRule, before: number, next: number, depth: number): boolean {
    const count = lengths.countAt(before, next, this.#counts[depth - 1] as number)
    this.#counts[depth] = count
    return lengths.allows(next, count)
  }
}

/**
 * Ends of second and later words of a token that are followed for one mask; more only where the same can be read in very
 * many ways. Tokens that are missed can be written as several.
 */
const MAX_EXITS = 20_000

/** The mask of a state. */
export function maskOf(walks: WordWalks, grammar: Grammar, { readings }: GrammarState): TokenMask {
  const mask = createMask(walks.trie)
  const open: Exit[] = []
  for (const { head, state, count, text } of readings) {
    const { inside, exits } = walks.fromRoot(head, state, count)
    for (let index = 0; index < mask.length; index++)
      mask[index] = (mask[index] as number) | (inside[index] as number)
    for (const node of exits) open.push(...leave(walks, grammar, { head, text, from: -1, node }, mask))
  }
  for (let left = MAX_EXITS; left > 0; left--) {
    const exit = open.pop()
    if (!exit) break
    open.push(...leave(walks, grammar, exit, mask))
  }
  return mask
}

/** A node at which a word is complete that began below `from`; `text` is what was written of it before. */
interface Exit {
  readonly head: Head
  readonly text: string
  readonly from: number
  readonly node: number
}

/** What comes behind a complete word: allows the tokens that end there or in the next words, and returns their ends. */
function leave(
  walks: WordWalks,
  grammar: Grammar,
  { head, text, from, node }: Exit,
  mask: TokenMask,
): Exit[] {
  const { trie } = walks
  const written = head.alternative.tracksText ? text + trie.textTo(node, from) : ''
  const follow = grammar.follow(head, written)
  if (!follow) return []
  allow(trie, mask, node)
  if (follow === 'end' || trie.ends[node] === node + 1) return []
  return follow.heads.flatMap((next) =>
    walks.walk(next, 0, 0, node, mask).map((end) => ({ head: next, text: '', from: node, node: end })),
  )
}

function createMask({ vocabSize }: TokenTrie): TokenMask {
  return new Uint32Array(Math.ceil(vocabSize / 32))
}

function allow({ tokens, ids }: TokenTrie, mask: TokenMask, node: number): void {
  const end = tokens[node + 1] as number
  for (let place = tokens[node] as number; place < end; place++) {
    const id = ids[place] as number
    mask[id >>> 5] = (mask[id >>> 5] as number) | (1 << (id & 31))
  }
}
