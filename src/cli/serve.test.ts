import { describe, expect, it } from 'vitest'
import { runFake } from './fake-context.case.ts'

/** Runs until it listens, which it asks more time of grace for. */
const serve = (args: readonly string[], env: Record<string, string> = {}) =>
  runFake(['serve', '--port', '0', ...args], { env }, (interrupts) => {
    const timer = setInterval(() => {
      if (interrupts.graceMs <= 2000) return
      clearInterval(timer)
      interrupts.raise('SIGTERM')
    }, 10)
    timer.unref()
  })

describe('serve', () => {
  it('warms up, says where it is, and stops when it is told to', async () => {
    const { exitCode, stdout, stderr, calls } = await serve(['--model', './models/Eyes-500M.gguf'])
    expect(exitCode).toBe(143)
    expect(stdout).toMatch(/^Eyes-500M answers at http:\/\/127\.0\.0\.1:\d+\/v1\n$/)
    expect(stderr).toContain("/v1/chat/completions -H 'Content-Type: application/json' -d '{\"messages\"")
    expect(calls.warmUps).toEqual([{ signal: expect.any(AbortSignal) }])
    expect(calls.disposed).toBe(1)
  })

  it.each([
    [['--model', 'owner/name@main'], 'name'],
    [['--model', './folder/'], 'folder'],
    [[], 'tiny'],
    [['--name', 'Eyes'], 'Eyes'],
  ])('%j is called %s', async (args, name) => {
    const { stdout } = await serve([...args, '--json', '--quiet'], { ONSIGHT_API_KEY: 'secret' })
    expect(JSON.parse(stdout)).toEqual({
      event: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      model: name,
      needsKey: true,
    })
  })

  it('asks other machines for a key', async () => {
    const { exitCode, stderr } = await serve(['--host', '0.0.0.0'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      'On 0.0.0.0 other machines can ask this server, which needs an API key; found none.',
    )
  })

  it.each([
    ['--port', '65536'],
    ['--queue', '-1'],
    ['--cors', '*'],
    ['--max-body', '0'],
    ['--timeout', '0'],
  ])('%s %s is wrong usage', async (option, value) => {
    const { exitCode, stderr } = await runFake(['serve', option, value])
    expect([exitCode, stderr.includes(option)]).toEqual([2, true])
  })
})
