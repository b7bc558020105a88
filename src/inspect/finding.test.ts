import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { FINDING_CODES, Findings } from './finding.ts'

describe('docs/inspect.md', () => {
  const lines = readFileSync(new URL('../../docs/inspect.md', import.meta.url), 'utf8').split('\n')
  const rows = lines.flatMap((line) => {
    const [, code, severity, meaning, hint] =
      /^\| `([a-z]+\/[a-z-]+)` \| (\w+) \| (.+) \| (.+) \|$/.exec(line) ?? []
    return code === undefined ? [] : [{ code, severity, meaning, hint }]
  })

  it('lists every code with its severity and next step, in the order of the source', () => {
    const expected = Object.entries(FINDING_CODES).map(([code, { severity, hint }]) => ({
      code,
      severity,
      hint,
    }))
    expect(rows.map(({ code, severity, hint }) => ({ code, severity, hint }))).toEqual(expected)
  })

  it('says what each means', () => {
    expect(rows.filter(({ meaning }) => !/^[A-Z`].*\.$/.test(meaning ?? ''))).toEqual([])
  })
})

describe('Findings', () => {
  it('lists errors first and keeps the same one once', () => {
    const findings = new Findings()
    findings.add('model/unknown-tensors', 'a')
    findings.add('text/no-chat-template', 'b')
    findings.add('file/empty', 'c')
    findings.add('file/empty', 'c')
    findings.add('file/empty', 'd', {}, 'note')
    expect(findings.list().map(({ severity, message }) => [severity, message])).toEqual([
      ['error', 'c'],
      ['warning', 'b'],
      ['note', 'a'],
      ['note', 'd'],
    ])
  })

  it('keeps the code of an error where it is one of ours', () => {
    const findings = new Findings()
    findings.addError(new EngineError('format/truncated', { message: 'short' }), 'format/damaged-header')
    findings.addError(new EngineError('format/limit-exceeded', { message: 'much' }), 'format/damaged-header')
    expect(findings.list().map(({ code, evidence }) => [code, evidence])).toEqual([
      ['format/truncated', { reason: 'format/truncated' }],
      ['format/damaged-header', { reason: 'format/limit-exceeded' }],
    ])
  })
})
