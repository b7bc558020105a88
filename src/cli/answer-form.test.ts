/** Answers of a given form, asked for on the command line. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from './fake-context.case.ts'

const SCHEMA = { type: 'object', properties: { seen: { type: 'string' } } }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'form-'))
  await writeFile(join(folder, 'schema.json'), JSON.stringify(SCHEMA))
  await writeFile(join(folder, 'broken.json'), '{')
  await writeFile(join(folder, 'unsupported.json'), '{"properties":{"x":{"not":{}}}}')
})
afterAll(() => rm(folder, { recursive: true }))

describe.each([
  ['describe', ['describe', import.meta.filename]],
  ['chat', ['chat', '--ask', 'Hi']],
])('%s', (_, command) => {
  const run = (...args: string[]) => runFake([...command, '--model', 'm', ...args], { input: '' })

  it('passes on the schema of a file', async () => {
    const { calls, exitCode } = await run('--schema', join(folder, 'schema.json'))
    expect(exitCode).toBe(0)
    expect(calls.sent[0]!.options).toMatchObject({ responseSchema: SCHEMA })
  })

  it('says how likely each choice is', async () => {
    const { calls, stdout, stderr } = await run('--choices', 'yes, no ,maybe not')
    expect(calls.sent[0]!.options).toMatchObject({ choices: ['yes', 'no', 'maybe not'] })
    expect([stdout, stderr]).toEqual(['A fox.\n', 'yes 33.3%, no 33.3%, maybe not 33.3%\n'])
    const json = await run('--choices', 'yes,no', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({
      choices: [
        { text: 'yes', probability: 0.5 },
        { text: 'no', probability: 0.5 },
      ],
    })
  })

  it.each([
    [
      'broken.json',
      2,
      /broken\.json is not valid JSON: .*\n {2}→ docs\/structured-output\.md describes schemas\.\n$/s,
    ],
    [
      'unsupported.json',
      2,
      /The schema's #\/properties\/x\/not is not supported\.\n {2}→ Say what is allowed instead\.\n$/,
    ],
    ['missing.json', 1, /missing\.json/],
  ])('refuses %s before a model is loaded', async (file, code, message) => {
    const { exitCode, stderr, calls } = await run('--schema', join(folder, file))
    expect(exitCode).toBe(code)
    expect(stderr).toMatch(message)
    expect(calls.loads).toEqual([])
  })

  it.each([
    [['--choices', 'a,,b'], 'Expected different texts, separated by commas.'],
    [['--choices', 'a,a'], 'Expected different texts, separated by commas.'],
    [
      ['--choices', 'a', '--schema', 's.json'],
      "option '--schema <file>' cannot be used with option '--choices <texts>'",
    ],
    [
      ['--choices', 'a', '--stop', 's'],
      "option '--choices <texts>' cannot be used with option '--stop <text>'",
    ],
    [
      ['--schema', 's.json', '--ignore-eos'],
      "option '--schema <file>' cannot be used with option '--ignore-eos'",
    ],
  ])('refuses %j', async (args, message) => {
    const { exitCode, stderr } = await run(...args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
