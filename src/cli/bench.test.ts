import { describe, expect, it } from 'vitest'
import { BENCH_REPORT, BUNDLED_PATH, runFake } from './fake-context.case.ts'

describe('onsight bench', () => {
  it('prints numbers and what they were measured on', async () => {
    const { exitCode, stdout, stderr, calls } = await runFake(['bench', '--shape', 'smolvlm-500m'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(
      [
        'prefill tokens per second at 64  201.3',
        'decode tokens per second          5.50',
        'peak resident megabytes          412.0',
        'machine                          Some CPU',
        'node                             24.0.0',
        'threads                          2',
        '',
      ].join('\n'),
    )
    expect(calls.benches).toEqual([
      { subject: { shape: 'smolvlm-500m' }, request: { repeat: 3, signal: expect.any(AbortSignal) } },
    ])
  })

  it('prints the report as JSON', async () => {
    const args = ['bench', 'tiny', '--json', '--precision', 'q4', '--threads', '1', '--repeat', '2']
    const { stdout, calls } = await runFake(args)
    expect(JSON.parse(stdout)).toEqual(BENCH_REPORT)
    expect(calls.benches).toEqual([
      {
        subject: BUNDLED_PATH,
        request: { precision: 'q4', threads: 1, repeat: 2, signal: expect.any(AbortSignal) },
      },
    ])
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
