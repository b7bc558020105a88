import { describe, expect, it } from 'vitest'
import { createRandom } from '../generation/random.ts'
import { type NumberRange, numberLexeme } from './number-lexeme.ts'

const INFINITY = Number.POSITIVE_INFINITY
const FREE: NumberRange = { isInteger: false, least: -INFINITY, most: INFINITY, divisors: [] }

function acceptorOf(range: Partial<NumberRange>): (text: string) => boolean {
  const lexeme = numberLexeme({ ...FREE, ...range })
  return (text) => {
    let state = lexeme ? 0 : -1
    for (const byte of new TextEncoder().encode(text)) state = state < 0 ? -1 : lexeme!.step(state, 0, byte)
    return state >= 0 && lexeme!.accepts(state)
  }
}

describe('whole numbers', () => {
  it.each([
    [0, 0],
    [0, 9],
    [1, 10],
    [-1, 1],
    [-12, 345],
    [99, 101],
    [-1000, -37],
    [5, 4],
    [7, 100_000],
    [-0.5, 2.5],
  ])('from %d to %d are all and only those', (least, most) => {
    const accepts = acceptorOf({ isInteger: true, least, most })
    for (let value = -1100; value <= 1100; value++) {
      expect(accepts(String(value)), String(value)).toBe(value >= least && value <= most)
    }
    for (const text of ['-0', '01', '1.0', '1e1', '', '-', '+1', ' 1', '1 '])
      expect(accepts(text), text).toBe(false)
  })

  it.each([
    [[7], -50, 999],
    [[2, 3], 0, INFINITY],
    [[1000], 1, 90_000],
    [[13], -INFINITY, INFINITY],
  ])('divided by %j from %d to %d', (divisors, least, most) => {
    const accepts = acceptorOf({ isInteger: true, least, most, divisors })
    for (let value = -1100; value <= 3100; value++) {
      const isOne = value >= least && value <= most && divisors.every((divisor) => value % divisor === 0)
      expect(accepts(String(value)), String(value)).toBe(isOne)
    }
  })

  it('end: they have few digits, enough for every exact one', () => {
    const accepts = acceptorOf({ isInteger: true })
    expect(accepts('999999999999999')).toBe(true)
    expect(accepts('-1000000000000000')).toBe(false)
    const large = acceptorOf({ isInteger: true, least: 1e18 })
    expect(
      ['999999999999999999', '1000000000000000000', '10000000000000000000', '100000000000000000000'].map(
        large,
      ),
    ).toEqual([false, true, true, false])
  })
})

describe('numbers with fractions', () => {
  const BOUNDS = [
    [0, 1],
    [0.1, 0.25],
    [-0.5, 0.75],
    [-3.25, -1.5],
    [1.005, 1.005],
    [99.9, 100.1],
    [0, INFINITY],
    [-INFINITY, -2],
    [1e-7, 2e-7],
    [0.30000000000000004, 0.4],
    [123.456, 1e15],
    [5e-324, 1],
    [-1e-300, 1e-300],
  ] as const
  it.each(BOUNDS)('from %d to %d', (least, most) => {
    const accepts = acceptorOf({ least, most })
    const random = createRandom(4)
    let inside = 0
    for (let round = 0; round < 4000; round++) {
      const scale = 10 ** Math.floor(random() * 5)
      const middle = [least, most].filter(Number.isFinite)[round % 2] ?? Math.max(least, -1e9)
      const text = (middle + (random() - 0.5) / scale).toFixed(Math.floor(random() * 12))
      const value = Number(text)
      if (Object.is(value, -0)) continue // one zero is enough where there are bounds
      const isOne = value >= least && value <= most
      if (isOne) inside++
      expect(accepts(text), text).toBe(isOne)
    }
    if (most - least > 1e-4) expect(inside).toBeGreaterThan(100)
    for (const bound of [least, most]) {
      if (Number.isFinite(bound) && !/e/.test(String(bound)) && !/\.\d{17,}/.test(String(bound))) {
        expect(accepts(String(bound)), String(bound)).toBe(true)
      }
    }
  })

  it('are written as JSON has them', () => {
    const accepts = acceptorOf({})
    for (const text of ['0', '-0', '12', '-1.5', '0.001', '1e5', '1E-5', '1.25e+10', '1234567890123456']) {
      expect(accepts(text), text).toBe(true)
    }
    for (const text of [
      '',
      '-',
      '.5',
      '5.',
      '01',
      '1e',
      '1e+',
      '+1',
      'NaN',
      '0x1',
      '1e100',
      '1.2.3',
      '0.12345678901234567',
    ]) {
      expect(accepts(text), text).toBe(false)
    }
  })
})

describe('refuses', () => {
  it.each([
    [{ least: 1e22 }, 'bounds beyond 1e+21 are not supported'],
    [{ isInteger: true, divisors: [1001] }, 'multiples beyond 1000 are not supported'],
    [{ isInteger: true, divisors: [99, 98] }, 'multiples beyond 1000 are not supported'],
  ])('%j', (range, message) => {
    expect(() => numberLexeme({ ...FREE, ...range })).toThrow(
      expect.objectContaining({ code: 'option/schema', message }),
    )
  })

  it('ranges without a number', () => {
    expect(numberLexeme({ ...FREE, isInteger: true, least: 0.1, most: 0.9 })).toBe(undefined)
    expect(numberLexeme({ ...FREE, isInteger: true, least: 11, most: 12, divisors: [7] })).toBe(undefined)
    expect(numberLexeme({ ...FREE, least: 1, most: 0 })).toBe(undefined)
  })
})
