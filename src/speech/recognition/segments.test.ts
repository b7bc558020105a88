import { describe, expect, it } from 'vitest'
import { splitSegments } from './segments.ts'

const FIRST = 1000
const TOKENS = { firstTimestamp: FIRST }
/** Timestamp token of a time in seconds. */
const at = (seconds: number): number => FIRST + Math.round(seconds / 0.02)

describe('splitSegments', () => {
  it('cuts at pairs and hears again what comes behind the last one', () => {
    const ids = [at(0), 1, 2, at(2), at(2.5), 3, at(4), at(4), 4, 5]
    expect(splitSegments(ids, TOKENS, 30, false)).toEqual({
      segments: [
        { start: 0, end: 2, ids: [1, 2] },
        { start: 2.5, end: 4, ids: [3] },
      ],
      ids: ids.slice(0, 7),
      heardSeconds: 4,
    })
  })

  it('takes the whole window when it ends with one timestamp', () => {
    const ids = [at(0), 1, at(2), at(2), 2, at(7)]
    expect(splitSegments(ids, TOKENS, 30, false)).toEqual({
      segments: [
        { start: 0, end: 2, ids: [1] },
        { start: 2, end: 7, ids: [2] },
      ],
      ids,
      heardSeconds: 30,
    })
  })

  it('keeps what comes behind the last pair when nothing follows', () => {
    const ids = [at(0), 1, at(2), at(2.5), 2, 3]
    expect(splitSegments(ids, TOKENS, 6, true)).toEqual({
      segments: [
        { start: 0, end: 2, ids: [1] },
        { start: 2.5, end: 6, ids: [2, 3] },
      ],
      ids,
      heardSeconds: 6,
    })
  })

  it('makes one segment without pairs, up to the last time or to the end of the window', () => {
    expect(splitSegments([at(0), 1, 2, at(3)], TOKENS, 30, false).segments).toEqual([
      { start: 0, end: 3, ids: [1, 2] },
    ])
    expect(splitSegments([at(0), 1, 2], TOKENS, 8, false).segments).toEqual([
      { start: 0, end: 8, ids: [1, 2] },
    ])
    expect(splitSegments([at(0), 1, at(9)], TOKENS, 8, false).segments).toEqual([
      { start: 0, end: 8, ids: [1] },
    ])
    expect(splitSegments([], TOKENS, 8, false)).toEqual({ segments: [], ids: [], heardSeconds: 8 })
  })

  it('leaves out segments without text or without length, and always goes on', () => {
    const stuck = [at(0), 1, at(0), at(0), 2]
    expect(splitSegments(stuck, TOKENS, 30, false)).toMatchObject({ segments: [], heardSeconds: 30 })
    expect(splitSegments([at(0), at(2), at(2), 1, at(4), at(4)], TOKENS, 30, false).segments).toEqual([
      { start: 2, end: 4, ids: [1] },
    ])
  })
})
