/** How texts are written. */
import { describe, expect, it } from 'vitest'
import { createGrammar, createReader, expectTexts, stateBehind } from './schema-texts.case.ts'

describe('texts', () => {
  it('are written with all escapes that JSON has, surrogates in pairs', () => {
    expectTexts(
      { type: 'string' },
      [
        '""',
        '"a"',
        '"\\""',
        '"\\\\"',
        '"\\/"',
        '"\\b\\f\\n\\r\\t"',
        '"\\u0000"',
        '"\\u00e9"',
        '"\\uD83D\\uDC4D"',
        '"é猫👍"',
        '"\u007f"',
      ],
      [
        '"',
        'a',
        '"a',
        '"\n"',
        '"\u0000"',
        '"\\a"',
        '"\\u12"',
        '"\\uD83D"',
        '"\\uDC4D"',
        '"\\uD83Dx"',
        '"\\uD83D\\n"',
        '"\\uD83D\\u0041"',
        '"a"b',
      ],
    )
  })

  it('are UTF-8 to the last byte', () => {
    const grammar = createGrammar({ type: 'string' })
    const reads = (...bytes: number[]): boolean =>
      stateBehind(grammar, [0x22, ...bytes, 0x22])?.canEnd ?? false
    expect(
      [
        [0xc2, 0x80],
        [0xe0, 0xa0, 0x80],
        [0xed, 0x9f, 0xbf],
        [0xf0, 0x90, 0x80, 0x80],
        [0xf4, 0x8f, 0xbf, 0xbf],
      ].map((bytes) => reads(...bytes)),
    ).toEqual([true, true, true, true, true])
    const broken = [
      [0x80],
      [0xc2],
      [0xc0, 0x80],
      [0xc1, 0xbf],
      [0xe0, 0x9f, 0xbf],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x8f, 0xbf, 0xbf],
      [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xff],
      [0xe7, 0x8c],
    ]
    expect(broken.filter((bytes) => reads(...bytes))).toEqual([])
  })

  it('have as many characters as the schema says, however they are written', () => {
    expectTexts(
      { type: 'string', minLength: 2, maxLength: 3 },
      ['"ab"', '"abc"', '"猫猫"', '"👍👍👍"', '"\\n\\n\\n"', '"\\uD83D\\uDC4D\\u0041\\u0042"'],
      ['""', '"a"', '"abcd"', '"👍"', '"\\uD83D\\uDC4D"', '"猫猫猫猫"'],
    )
    expectTexts({ type: 'string', maxLength: 0 }, ['""'], ['"a"'])
    const reads = createReader({ type: 'string', minLength: 50_000, maxLength: 100_000 })
    expect([49_999, 50_000, 100_000, 100_001].map((count) => reads(`"${'x'.repeat(count)}"`))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  it('have a pattern and a length at once, without ways that lead nowhere', () => {
    const schema = { type: 'string', pattern: '^(?:a|bbbb|(?:cc)*)$', minLength: 3, maxLength: 5 }
    expectTexts(schema, ['"bbbb"', '"cccc"'], ['"a"', '"cc"', '"cccccc"'])
    const grammar = createGrammar(schema)
    const opened = grammar.advance(grammar.start, 0x22)!
    expect(
      ['a', 'b', 'c', '"'].map((letter) => grammar.advance(opened, letter.charCodeAt(0)) !== undefined),
    ).toEqual([false, true, true, false])
    expectTexts(
      { type: 'string', pattern: '^(?:aa)*$', minLength: 3 },
      ['"aaaa"', '"aaaaaa"'],
      ['"aa"', '"aaa"', '"aaaaa"'],
    )
  })

  it.each([
    [
      'date',
      ['2024-02-29', '2000-02-29', '1999-12-31'],
      ['2023-02-29', '1900-02-29', '2024-13-01', '2024-04-31', '24-01-01'],
    ],
    ['time', ['23:59:59Z', '00:00:00.123+01:30'], ['24:00:00Z', '12:00:00', '12:60:00Z']],
    ['date-time', ['2024-02-29T12:00:00Z'], ['2024-02-29 12:00:00Z', '2024-02-30T12:00:00Z']],
    ['duration', ['P1Y2M3DT4H5M6S', 'PT1S', 'P4W', 'P1D'], ['P', 'PT', 'P1S', '1D']],
    ['email', ['a.b+c@d-e.example'], ['a@b', '@b.cc', 'a@@b.cc', 'a b@c.dd']],
    ['hostname', ['a', 'a-b.c0.example'], ['-a', 'a-', 'a..b', 'a_b']],
    ['ipv4', ['0.0.0.0', '255.249.100.9'], ['256.0.0.0', '1.2.3', '01.2.3.4']],
    ['ipv6', ['::', '::1', '2001:db8::ff', '1:2:3:4:5:6:7:8'], [':', '1::2::3', '12345::', '1:2:3:4:5:6:7']],
    [
      'uri',
      ['https://example.org/a/b?c=d&e#f', 'http://localhost:8080'],
      ['example.org', 'https://', 'https://a b', 'https://a/%zz'],
    ],
    [
      'uuid',
      ['123e4567-e89b-12d3-a456-426614174000'],
      ['123e4567e89b12d3a456426614174000', '123e4567-e89b-12d3-a456-42661417400g'],
    ],
  ])('of format %s', (format, valid, invalid) => {
    const quoted = (texts: string[]): string[] => texts.map((text) => JSON.stringify(text))
    expectTexts({ type: 'string', format }, quoted(valid), quoted(invalid))
  })
})
