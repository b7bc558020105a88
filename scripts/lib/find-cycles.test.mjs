import { expect, it } from 'vitest'
import { findCycles } from './find-cycles.mjs'

it('finds nothing where imports only go down', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', ['c']],
    ['c', []],
  ])
  expect(findCycles(graph)).toEqual([])
})

it('names each circle once, by its shortest round trip', () => {
  const graph = new Map([
    ['a', ['b', 'unknown']],
    ['b', ['c']],
    ['c', ['d', 'b']],
    ['d', ['e']],
    ['e', ['d']],
    ['self', ['self']],
  ])
  expect(findCycles(graph)).toEqual([
    ['b', 'c', 'b'],
    ['d', 'e', 'd'],
    ['self', 'self'],
  ])
})
