/** Sets of Unicode code points as ascending, separate ranges; and how their UTF-8 looks. */

export type CodePointRange = readonly [from: number, to: number]
export type CodePoints = readonly CodePointRange[]

export const LAST_CODE_POINT = 0x10ffff
export const ALL_CODE_POINTS: CodePoints = [[0, LAST_CODE_POINT]]

export function unionOf(...sets: readonly CodePoints[]): CodePoints {
  const ranges = sets.flat().sort((a, b) => a[0] - b[0])
  const joined: [number, number][] = []
  for (const [from, to] of ranges) {
    const last = joined.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

export function complementOf(set: CodePoints): CodePoints {
  const rest: CodePointRange[] = []
  let next = 0
  for (const [from, to] of unionOf(set)) {
    if (from > next) rest.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST_CODE_POINT) rest.push([next, LAST_CODE_POINT])
  return rest
}

export function intersectionOf(a: CodePoints, b: CodePoints): CodePoints {
  return complementOf(unionOf(complementOf(a), complementOf(b)))
}

export function hasCodePoint(set: CodePoints, codePoint: number): boolean {
  return set.some(([from, to]) => from <= codePoint && codePoint <= to)
}

export type ByteRange = readonly [from: number, to: number]

const LAST_OF_ONE_BYTE = 0x7f
/** Largest code point that one, two, three and four bytes hold. */
const LAST_OF_LENGTH = [LAST_OF_ONE_BYTE, 0x7ff, 0xffff, LAST_CODE_POINT]
const SURROGATES: CodePoints = [[0xd800, 0xdfff]]

/**
 * The UTF-8 of a set as sequences of byte ranges, all combinations of which are characters of the set. Surrogates have
 * no UTF-8 and are left out. Method of utf8-ranges (Cox, "Regular Expression Matching in the Wild").
 */
export function encodeCodePoints(set: CodePoints): ByteRange[][] {
  const sequences: ByteRange[][] = []
  for (const [from, to] of intersectionOf(set, complementOf(SURROGATES))) {
    let start = from
    for (const last of LAST_OF_LENGTH) {
      if (start > to) break
      if (start <= last) {
        splitRange(start, Math.min(to, last), sequences)
        start = last + 1
      }
    }
  }
  return sequences
}

/** Both ends have UTF-8 of the same length. */
function splitRange(from: number, to: number, sequences: ByteRange[][]): void {
  for (const bits of to <= LAST_OF_ONE_BYTE ? [] : [6, 12, 18]) {
    const mask = (1 << bits) - 1
    if (from >> bits === to >> bits) continue
    // What stands behind the first differing byte must run from its lowest to its highest value.
    if ((from & mask) !== 0) {
      splitRange(from, from | mask, sequences)
      splitRange((from | mask) + 1, to, sequences)
      return
    }
    if ((to & mask) !== mask) {
      splitRange(from, (to & ~mask) - 1, sequences)
      splitRange(to & ~mask, to, sequences)
      return
    }
  }
  const first = encode(from)
  const last = encode(to)
  sequences.push(first.map((byte, index) => [byte, last[index] as number]))
}

function encode(codePoint: number): number[] {
  return [...new TextEncoder().encode(String.fromCodePoint(codePoint))]
}
