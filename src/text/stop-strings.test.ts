import { describe, expect, test } from 'vitest'
import { createStopStringFilter } from './stop-strings.ts'

/** What comes out when `text` arrives in the pieces. */
function run(stops: readonly string[], pieces: readonly string[]): { text: string; stopped: boolean } {
  const filter = createStopStringFilter(stops)
  let text = ''
  let stopped = false
  for (const piece of pieces) {
    const step = filter.push(piece)
    text += step.emit
    stopped = step.stopped
  }
  return { text: text + filter.flush(), stopped }
}

/** Every way to cut `text` in pieces. */
function* cuts(text: string): Generator<string[]> {
  for (let mask = 0; mask < 2 ** (text.length - 1); mask++) {
    const pieces = ['']
    for (let index = 0; index < text.length; index++) {
      pieces[pieces.length - 1] += text[index]
      if (mask & (1 << index) && index + 1 < text.length) pieces.push('')
    }
    yield pieces
  }
}

describe('createStopStringFilter', () => {
  test.each([
    [['END'], 'abENDcd', 'ab', true],
    [['END'], 'abENcd', 'abENcd', false],
    [['END'], 'abEN', 'abEN', false],
    [['aab'], 'aaaabx', 'aa', true],
    [['xabc', 'ab'], 'xxabcd', 'xx', true],
    [['bc', 'abc'], 'zabcd', 'z', true],
    [['\n\n', 'User:'], 'hi\nUse\n\nx', 'hi\nUse', true],
    [['。'], '你好。再见', '你好', true],
    [[], 'anything', 'anything', false],
  ])('%j in %j, however it is cut', (stops, text, expected, stopped) => {
    for (const pieces of cuts(text))
      expect(run(stops, pieces), pieces.join('|')).toEqual({ text: expected, stopped })
  })

  test('holds back only what may become a stop string', () => {
    const filter = createStopStringFilter(['STOP'])
    expect(filter.push('no ST')).toEqual({ emit: 'no ', stopped: false })
    expect(filter.push('AR ')).toEqual({ emit: 'STAR ', stopped: false })
    expect(filter.push('S')).toEqual({ emit: '', stopped: false })
    expect(filter.flush()).toBe('S')
  })

  test('swallows everything after the stop, and starts afresh after flush', () => {
    const filter = createStopStringFilter(['.'])
    expect(filter.push('a.b')).toEqual({ emit: 'a', stopped: true })
    expect(filter.push('c')).toEqual({ emit: '', stopped: true })
    expect(filter.flush()).toBe('')
    expect(filter.push('d')).toEqual({ emit: 'd', stopped: false })
  })

  test('refuses an empty stop string', () => {
    expect(() => createStopStringFilter(['a', ''])).toThrow(
      'A stop string is empty; expected at least one character.',
    )
  })
})
