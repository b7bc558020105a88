import { describe, expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { runFake } from './fake-context.case.ts'

describe('wrong usage', () => {
  it.each([
    [['describe'], "missing required argument 'pictures'", 'onsight --help lists commands and options.'],
    [['describe', 'x.jpg', '--modle', 'm'], "unknown option '--modle'", 'Did you mean --model?'],
    [['descrbe', 'x.jpg'], "unknown command 'descrbe'", 'Did you mean describe?'],
    [
      ['trace', 'm', '--ask', 'a'],
      "required option '-o, --out <file>' not specified",
      'onsight --help lists commands and options.',
    ],
  ])('%j', async (args, message, hint) => {
    const { exitCode, stdout, stderr } = await runFake(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe(`onsight: ${message}\n  → ${hint}\n`)
  })

  it.each([
    ['--max-tokens', '0', 'Expected a whole number of at least 1.'],
    ['--max-tokens', '1.5', 'Expected a whole number of at least 1.'],
    ['--max-tokens', 'ten', 'Expected a whole number of at least 1.'],
    ['--max-tokens', '', 'Expected a whole number of at least 1.'],
    ['--max-tokens', '0x10', 'Expected a whole number of at least 1.'],
    ['--temperature', '-0.1', 'Expected a number from 0 to 100.'],
    ['--temperature', 'NaN', 'Expected a number from 0 to 100.'],
    ['--temperature', 'Infinity', 'Expected a number from 0 to 100.'],
    ['--top-k', '-1', 'Expected a whole number of at least 0.'],
    ['--top-p', '0', 'Expected a number above 0 and up to 1.'],
    ['--top-p', '1.01', 'Expected a number above 0 and up to 1.'],
    ['--min-p', '2', 'Expected a number from 0 to 1.'],
    ['--repetition-penalty', '0', 'Expected a number above 0 and up to 100.'],
    ['--seed', '4294967296', 'Expected a whole number from 0 to 4294967295.'],
    ['--threads', '0', 'Expected a whole number of at least 1.'],
    ['--stop', '', 'Expected at least one character.'],
    ['--ask', ' ', 'Expected some text.'],
    ['--precision', 'f16', 'Allowed choices are f32, q8, q4, auto.'],
    ['--kv', 'q4', 'Allowed choices are f16, q8, f32.'],
    ['--detail', 'medium', 'Allowed choices are low, auto, high.'],
  ])('%s %j', async (name, value, expected) => {
    const { exitCode, stderr, calls } = await runFake(['describe', 'x.jpg', name, value])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(new RegExp(`^onsight: option '.*${name} <[a-z]+>' argument '.*' is invalid\\. `))
    expect(stderr.split('\n')[0]!.endsWith(`argument '${value}' is invalid. ${expected}`)).toBe(true)
    expect(calls.loads).toEqual([])
  })

  it('takes the largest and smallest values', async () => {
    const args = [
      '--seed',
      '4294967295',
      '--top-p',
      '1',
      '--min-p',
      '0',
      '--temperature',
      '1e-1',
      '--top-k',
      '0',
    ]
    const { exitCode, calls } = await runFake(['describe', import.meta.filename, ...args])
    expect(exitCode).toBe(0)
    expect(calls.sent[0]!.options).toMatchObject({
      seed: 4294967295,
      topP: 1,
      minP: 0,
      temperature: 0.1,
      topK: 0,
    })
  })
})

describe('help', () => {
  it('names all commands and exit codes', async () => {
    const { exitCode, stdout, stderr } = await runFake(['--help'])
    expect([exitCode, stderr]).toEqual([0, ''])
    for (const name of ['describe', 'chat', 'trace', 'bench', 'demo'])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(stdout).toContain('  130  interrupted (Ctrl-C); 143 when terminated')
  })

  it('names all options of a command and the exit codes again', async () => {
    const { stdout } = await runFake(['describe', '--help'])
    expect(stdout).toContain('\n  4    the model is missing or damaged\n')
    const names = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name)
    expect(names).toEqual([
      ...[
        '--model',
        '--mmproj',
        '--ask',
        '--system',
        '--when-full',
        '--precision',
        '--kv',
        '--detail',
        '--max-tokens',
        '--temperature',
      ],
      ...[
        '--top-k',
        '--top-p',
        '--min-p',
        '--repetition-penalty',
        '--seed',
        '--stop',
        '--ignore-eos',
        '--speculation',
        '--schema',
        '--choices',
        '--image-tokens',
        '--memory-limit',
        '--threads',
      ],
      ...['--json', '--quiet', '--plain', '--debug', '--no-color'],
      ...['--route', '--remote-url', '--remote-model', '--allow-remote', '--help'],
    ])
  })

  it('comes on standard error when no command is given', async () => {
    const { exitCode, stdout, stderr } = await runFake([])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')[0]).toBe('Usage: onsight [options] [command]')
  })

  it('prints the version', async () => {
    expect((await runFake(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('errors', () => {
  const loadError = new EngineError('config/bad-field', {
    message: 'a\u001b[31m\nb\u202e.gguf: bad.',
    hint: 'Try\tagain.',
    cause: new Error('the reason'),
  })
  const args = ['describe', import.meta.filename, '--model', 'm']

  it('show no control characters and no stack', async () => {
    const { stderr } = await runFake(args, { loadError })
    expect(stderr).toBe('onsight: a[31m b.gguf: bad.\n  → Try again.\n')
  })

  it('show where they came from with --debug', async () => {
    const { stderr } = await runFake([...args, '--debug'], { loadError })
    expect(stderr).toContain('program.test.ts')
    expect(stderr).toContain('[cause]: Error: the reason')
  })

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j at a terminal (%s) have colours: %s', async (env, isTerminal, expected) => {
    const { stderr } = await runFake([...args, '--plain'], { loadError, env, isTerminal })
    expect(stderr.includes('\u001b[31monsight:\u001b[39m')).toBe(expected)
    expect(stderr.includes('\u001b')).toBe(expected)
  })

  it('have no colours with --no-color', async () => {
    const { stderr } = await runFake([...args, '--no-color'], { loadError, env: { FORCE_COLOR: '1' } })
    expect(stderr).not.toContain('\u001b')
  })
})
