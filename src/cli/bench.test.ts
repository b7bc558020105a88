import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { BENCH_REPORT, BUNDLED_PATH, runFake } from './fake-context.case.ts'

const { create } = useTemporaryFolders()
const writeReport = (text: string): string => join(create({ 'earlier.json': text }), 'earlier.json')

describe('onsight bench', () => {
  it('prints numbers and what they were measured on', async () => {
    const { exitCode, stdout, stderr, calls } = await runFake(['bench', '--shape', 'smolvlm-500m'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(
      [
        'first word ms first                    900.0',
        'first word ms follow up                 45.0',
        'first word ms follow up without reuse  950.0',
        'prefill tokens per second at 64        201.3',
        'decode tokens per second                5.50',
        'peak resident megabytes                412.0',
        'machine                                Some CPU',
        'node                                   24.0.0',
        'threads                                2',
        '',
      ].join('\n'),
    )
    expect(calls.benches).toEqual([
      { subject: { shape: 'smolvlm-500m' }, request: { repeat: 3, signal: expect.any(AbortSignal) } },
    ])
  })

  it('prints the report as JSON', async () => {
    const args = [
      'bench',
      'tiny',
      '--json',
      '--precision',
      'q4',
      '--kv',
      'q8',
      '--threads',
      '1',
      '--repeat',
      '2',
    ]
    const { stdout, calls } = await runFake(args)
    expect(JSON.parse(stdout)).toEqual(BENCH_REPORT)
    expect(calls.benches).toEqual([
      {
        subject: BUNDLED_PATH,
        request: { precision: 'q4', kv: 'q8', threads: 1, repeat: 2, signal: expect.any(AbortSignal) },
      },
    ])
  })

  it('shows ratios to an earlier report', async () => {
    const earlier = writeReport(
      JSON.stringify({ numbers: { decodeTokensPerSecond: 2.75, gone: 1 }, firstWordMs: { followUp: 90 } }),
    )
    const { stdout } = await runFake(['bench', 'tiny', '--compare', earlier])
    expect(stdout.split('\n').filter((line) => line.endsWith('x'))).toEqual([
      expect.stringMatching(/^first word ms follow up +45\.0 {2}0\.50x$/),
      expect.stringMatching(/^decode tokens per second +5\.50 {2}2\.00x$/),
    ])
    const json = await runFake(['bench', 'tiny', '--json', '--compare', earlier])
    expect(JSON.parse(json.stdout)).toEqual({
      ...BENCH_REPORT,
      ratios: { firstWordMsFollowUp: 0.5, decodeTokensPerSecond: 2 },
    })
  })

  it.each([
    ['{', /expected the JSON of "onsight bench --json"/],
    ['[]', /expected a report with "numbers"/],
    ['{"numbers":{"a":"fast"}}', /expected a report with "numbers"/],
  ])('compares with no %s, and says so before it measures', async (text, message) => {
    const { exitCode, stderr, calls } = await runFake(['bench', 'tiny', '--compare', writeReport(text)])
    expect([exitCode, calls.benches]).toEqual([2, []])
    expect(stderr).toMatch(message)
  })

  it.each([
    [[], 'neither'],
    [['m', '--shape', 'smolvlm-500m'], 'both'],
  ])('wants a model or a shape: %j', async (args, found) => {
    const { exitCode, stderr } = await runFake(['bench', ...args])
    expect(exitCode).toBe(2)
    expect(stderr.split('\n')[0]).toBe(`onsight: bench: expected either a model or --shape, found ${found}.`)
  })
})
