import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { readTinyCases } from '../../test/support/tiny-cases.ts'
import { runFake } from './fake-context.case.ts'

const folders = useTemporaryFolders()
const TINY = new URL('../../models/tiny', import.meta.url).pathname

/** The first cases as a set with pictures beside it. */
function createSet(count: number): string {
  const cases = readTinyCases().slice(0, count)
  const lines = cases.map(({ id, turns }) =>
    JSON.stringify({
      id,
      picture: `${id}.png`,
      turns: turns.map(({ ask, truth }) => ({ ask, answer: truth })),
    }),
  )
  const pictures = Object.fromEntries(cases.map(({ id, picture }) => [`${id}.png`, readFileSync(picture)]))
  return join(folders.create({ 'set.jsonl': lines.join('\n'), ...pictures }), 'set.jsonl')
}

describe('onsight eval', () => {
  it('prints a table: f16 as the reference answers, the others against it', async () => {
    const set = createSet(4)
    const cases = readTinyCases().slice(0, 4)
    const turns = cases.flatMap((entry) => entry.turns)
    const right = turns.filter(({ says, truth }) => says === truth).length
    const { exitCode, stdout, stderr } = await runFake([
      ...['eval', TINY, '--set', set, '--recipes', 'f16,q8,q4', '--json', '--threads', '1'],
    ])
    expect([exitCode, stderr]).toEqual([0, ''])
    const report = JSON.parse(stdout)
    expect(report.questions).toBe(turns.length)
    expect(report.baseline).toBe('f16')
    const [full, eight, four] = report.variants
    expect(full).toMatchObject({
      name: 'f16',
      sizeRatio: 1,
      questions: turns.length,
      exact: right / turns.length,
    })
    expect(full.meanKl).toBeLessThan(1e-6)
    expect(full.sameTop).toBe(1)
    expect(full.loss).toBeUndefined()
    expect(eight.sizeRatio).toBeCloseTo(0.548, 3)
    expect(four.sizeRatio).toBeCloseTo(0.307, 3)
    expect(eight.meanKl).toBeLessThan(four.meanKl)
    expect(Object.keys(four.loss)).toEqual(['points', 'low', 'high'])
  })

  it('goes on where it was interrupted, and gives the same report', async () => {
    const set = createSet(3)
    const whole = await runFake(['eval', TINY, '--set', set, '--recipes', 'q4', '--json', '--threads', '1'])
    const resume = join(folders.create({}), 'results.jsonl')
    const args = [
      'eval',
      TINY,
      '--set',
      set,
      '--recipes',
      'q4',
      '--json',
      '--threads',
      '1',
      '--resume',
      resume,
    ]
    await runFake(args)
    const lines = readFileSync(resume, 'utf8').trimEnd().split('\n')
    // Killed in the middle of a line.
    writeFileSync(resume, `${lines.slice(0, 3).join('\n')}\n${lines[3]?.slice(0, 20)}`)
    const resumed = await runFake(args)
    expect(resumed.stdout).toBe(whole.stdout)
    const again = readFileSync(resume, 'utf8').trimEnd().split('\n')
    expect(again.slice(0, 3)).toEqual(lines.slice(0, 3))
    expect(new Set(again)).toEqual(new Set([...lines, lines[3]?.slice(0, 20)]))
  })

  it('evaluates a file that was converted before', async () => {
    const set = createSet(1)
    const out = join(folders.create({}), 'mine.gguf')
    await runFake(['convert', TINY, out, '--recipe', 'q8'])
    const { stdout } = await runFake([
      ...['eval', TINY, '--set', set, '--recipes', `q8,${out}`, '--threads', '1'],
    ])
    const [, heading, eight, mine] = stdout.split('\n')
    expect(heading).toMatch(
      /^recipe +size +ratio +exact +normalised +ANLS +loss +95% interval +mean KL +same top$/,
    )
    expect(mine?.split(/ {2,}/).slice(1, 6)).toEqual(eight?.split(/ {2,}/).slice(1, 6))
  })

  it.each([
    [['--recipes', 'q4,q4'], 'Expected recipes that differ in name, found q4, q4.'],
    [['--recipes', 'q7'], 'The recipe: expected one of f16, q8, q4, mixed, small, found "q7".'],
    [['--set', 'none.jsonl'], 'none.jsonl: no such file.'],
  ])('refuses %j', async (args, message) => {
    const { exitCode, stderr } = await runFake(['eval', TINY, '--set', createSet(1), ...args])
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain(`onsight: ${message}\n`)
  })

  it('results of another set are not mixed in', async () => {
    const resume = join(folders.create({}), 'results.jsonl')
    const first = ['eval', TINY, '--recipes', 'q4', '--threads', '1', '--resume', resume, '--set']
    await runFake([...first, createSet(1)])
    const { exitCode, stderr } = await runFake([...first, createSet(2)])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('holds results of another evaluation')
  })
})
