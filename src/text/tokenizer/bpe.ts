/**
 * Byte-pair merging over token ids. The pair of neighbours with the lowest rank merges first, the leftmost of equals
 * first, which is the order of the Rust `tokenizers` library (merge lists) and of SentencePiece and llama.cpp (scores).
 */

/** Knows which two neighbouring tokens may merge. A "slot" is the table's own name for such a pair. */
export interface PairTable {
  /** The slot of the pair, or -1 when the two tokens do not merge. */
  find(left: number, right: number): number
  /** Lower merges earlier; below `MAX_PAIR_RANKS`. */
  rankAt(slot: number): number
  /** The token that the pair becomes. */
  mergedAt(slot: number): number
}

/** Heap keys hold rank * 2^32 + position exactly in a double (53 bits), so ranks have 21 bits. Largest known: 514,906 merges (Gemma 3). */
export const MAX_PAIR_RANKS = 2 ** 21

const NOT_MERGEABLE = -1

const POSITION_SPAN = 2 ** 32

/** A ranked merge list in flat arrays: 12 bytes a merge plus an open-addressed index at most half full. */
export class MergeListTable implements PairTable {
  readonly #index: Int32Array // slot + 1, 0 = empty
  readonly #left: Int32Array
  readonly #right: Int32Array
  readonly #merged: Int32Array
  #size = 0

  constructor(capacity: number) {
    this.#index = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2)))
    this.#left = new Int32Array(capacity)
    this.#right = new Int32Array(capacity)
    this.#merged = new Int32Array(capacity)
  }

  /** Adds the next merge; its rank is the number of merges before it. A pair that is already there keeps its first rank. */
  add(left: number, right: number, merged: number): void {
    const slot = this.#size++
    const cell = this.#cellOf(left, right)
    if (this.#index[cell] !== 0) return
    this.#index[cell] = slot + 1
    this.#left[slot] = left
    this.#right[slot] = right
    this.#merged[slot] = merged
  }

  find(left: number, right: number): number {
    return (this.#index[this.#cellOf(left, right)] ?? 0) - 1
  }

  rankAt(slot: number): number {
    return slot
  }

  mergedAt(slot: number): number {
    return this.#merged[slot] ?? -1
  }

  #cellOf(left: number, right: number): number {
    const mask = this.#index.length - 1
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)
    hash = (hash ^ (hash >>> 15)) & mask
    for (;;) {
      const slot = (this.#index[hash] ?? 0) - 1
      if (slot < 0 || (this.#left[slot] === left && this.#right[slot] === right)) return hash
      hash = (hash + 1) & mask
    }
  }
}

/** SentencePiece: any two neighbours whose joined text is a token may merge, the best score first. The slot is the joined token's id. */
export class ScoredPairTable implements PairTable {
  readonly #tokens: readonly (string | undefined)[]
  readonly #ids: ReadonlyMap<string, number>
  readonly #ranks: Int32Array // by token id; equal scores share a rank

  /** `scores` is by token id; control and byte tokens, for which `isMergeable` is false, never come from merging. */
  constructor(
    tokens: readonly (string | undefined)[],
    ids: ReadonlyMap<string, number>,
    scores: ArrayLike<number>,
    isMergeable: (id: number) => boolean,
  ) {
    this.#tokens = tokens
    this.#ids = ids
    this.#ranks = rankByScore(scores).map((rank, id) => (isMergeable(id) ? rank : NOT_MERGEABLE))
  }

  find(left: number, right: number): number {
    const id = this.#ids.get(`${this.#tokens[left]}${this.#tokens[right]}`)
    return id === undefined || this.#ranks[id] === NOT_MERGEABLE ? -1 : id
  }

  rankAt(slot: number): number {
    return this.#ranks[slot] ?? 0
  }

  mergedAt(slot: number): number {
    return slot
  }
}

function rankByScore(scores: ArrayLike<number>): Int32Array {
  const order = Int32Array.from({ length: scores.length }, (_, id) => id)
  const scoreOf = (id: number): number => scores[id] ?? 0
  order.sort((a, b) => scoreOf(b) - scoreOf(a))
  const ranks = new Int32Array(scores.length)
  let rank = 0
  let previous: number | undefined
  for (const id of order) {
    if (previous !== undefined && scoreOf(id) !== scoreOf(previous)) rank++
    ranks[id] = rank
    previous = id
  }
  return ranks
}

/** Merges `symbols` until no pair of neighbours is in the table. O(n log n), so that one endless word cannot hang the caller. */
export function mergeSymbols(symbols: readonly number[], pairs: PairTable): number[] {
  const count = symbols.length
  if (count < 2) return [...symbols]
  const ids = Int32Array.from(symbols) // -1 once merged into its left neighbour
  const next = Int32Array.from(symbols, (_, position) => position + 1)
  const previous = Int32Array.from(symbols, (_, position) => position - 1)
  const heap = new NumberHeap()
  const slotAt = (position: number): number => {
    const right = next[position] ?? count
    return right >= count ? -1 : pairs.find(ids[position] ?? -1, ids[right] ?? -1)
  }
  const offer = (position: number): void => {
    const slot = slotAt(position)
    if (slot >= 0) heap.push(pairs.rankAt(slot) * POSITION_SPAN + position)
  }
  for (let position = 0; position + 1 < count; position++) offer(position)

  for (let key = heap.pop(); key !== undefined; key = heap.pop()) {
    const position = key % POSITION_SPAN
    if (ids[position] === -1) continue
    // An entry is stale when the pair at its place has changed since it was offered.
    const slot = slotAt(position)
    if (slot < 0 || pairs.rankAt(slot) !== Math.floor(key / POSITION_SPAN)) continue
    const right = next[position] ?? count
    const after = next[right] ?? count
    ids[position] = pairs.mergedAt(slot)
    ids[right] = -1
    next[position] = after
    if (after < count) previous[after] = position
    const before = previous[position] ?? -1
    if (before >= 0) offer(before)
    offer(position)
  }

  const merged: number[] = []
  for (let position = 0; position < count; position = next[position] ?? count)
    merged.push(ids[position] ?? -1)
  return merged
}

/** A binary min-heap of numbers. */
class NumberHeap {
  readonly #items: number[] = []

  push(item: number): void {
    const items = this.#items
    let index = items.length
    items.push(item)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const parentItem = items[parent] ?? 0
      if (parentItem <= item) break
      items[index] = parentItem
      index = parent
    }
    items[index] = item
  }

  pop(): number | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return top
    let index = 0
    for (;;) {
      let child = index * 2 + 1
      if (child >= items.length) break
      if (child + 1 < items.length && (items[child + 1] ?? 0) < (items[child] ?? 0)) child++
      const childItem = items[child] ?? 0
      if (childItem >= last) break
      items[index] = childItem
      index = child
    }
    items[index] = last
    return top
  }
}
