import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { runFake } from './fake-context.case.ts'

const folders = useTemporaryFolders()
const QWEN = goldenPath('odd/qwen2')
const LLAVA = goldenPath('llava')

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

describe('onsight convert', () => {
  it('writes both files and says what they are', async () => {
    const out = join(folders.create({}), 'llava.gguf')
    const { exitCode, stdout, stderr } = await runFake(['convert', LLAVA, out, '--recipe', 'q8'])
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      `${out}  491 kB`,
      `${out.replace('llava.gguf', 'mmproj-llava.gguf')}  168 kB`,
      "recipe q8: 37 Q8_0, 33 F32, 1 F16; 30.5% of the source's 2.16 MB",
      '',
    ])
    expect(exitCode).toBe(0)
  })

  it('says which matrices fell back, once for all that did alike', async () => {
    const out = join(folders.create({}), 'qwen.gguf')
    const { stdout } = await runFake(['convert', QWEN, out])
    expect(stdout).toMatch(/\.weight and \d+ more → F16: rows of \d+ are not whole blocks of 32 for Q4_0\n/)
  })

  it('prints the report as JSON', async () => {
    const out = join(folders.create({}), 'qwen.gguf')
    const { stdout } = await runFake(['convert', goldenPath('qwen2'), out, '--recipe', 'q4', '--json'])
    const report = JSON.parse(stdout)
    expect(Object.keys(report)).toEqual([
      ...['recipe', 'files', 'tensors', 'sourceBytes', 'byteLength', 'upgraded', 'notes'],
    ])
    expect(report.files).toEqual([{ path: out, part: 'text', byteLength: report.byteLength }])
    expect(readFileSync(out).byteLength).toBe(report.byteLength)
  })

  it('takes a recipe from a file, whose name is its own', async () => {
    const folder = folders.create({ 'mine.json': '{"base": "f16", "types": {"output": "Q8_0"}}' })
    const out = join(folder, 'qwen.gguf')
    const { stdout } = await runFake([
      'convert',
      goldenPath('qwen3'),
      out,
      '--recipe',
      join(folder, 'mine.json'),
    ])
    expect(stdout).toMatch(/recipe mine: /)
  })

  it('the same command writes the same bytes', async () => {
    const folder = folders.create({})
    const outs = ['a.gguf', 'b.gguf'].map((name) => join(folder, name))
    for (const out of outs) await runFake(['convert', goldenPath('llama3'), out])
    expect(hashOf(outs[0]!)).toBe(hashOf(outs[1]!))
  })

  it('keeps what is there without --force', async () => {
    const folder = folders.create({ 'qwen.gguf': 'mine' })
    const out = join(folder, 'qwen.gguf')
    const refused = await runFake(['convert', goldenPath('qwen2'), out])
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      `onsight: ${out} exists already.\n  → Give another name, or replace it with --force.\n`,
    ])
    expect(readFileSync(out, 'utf8')).toBe('mine')
    expect((await runFake(['convert', goldenPath('qwen2'), out, '--force'])).exitCode).toBe(0)
  })

  it('an interrupt leaves nothing behind', async () => {
    const folder = folders.create({})
    const { exitCode, stderr } = await runFake(
      ['convert', goldenPath('qwen2'), join(folder, 'qwen.gguf')],
      {},
      (interrupts) => interrupts.raise('SIGINT'),
    )
    expect([exitCode, stderr]).toEqual([130, 'Stopped. Nothing was left behind.\n'])
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    [['--recipe', 'q5'], 2, 'The recipe: expected one of f16, q8, q4, mixed, small, found "q5".'],
    [['--recipe', 'none.json'], 4, 'none.json: no such file.'],
    [
      ['--calibrate', 'none'],
      2,
      '--calibrate none: expected a folder of pictures and questions, found nothing.',
    ],
    [['--target-loss', '0.1'], 2, 'A target loss needs pictures and questions on which to measure it.'],
    [
      ['--target-loss', '-1'],
      2,
      "option '--target-loss <nats>' argument '-1' is invalid. Expected a number above 0.",
    ],
  ])('refuses %j', async (args, exitCode, message) => {
    const out = join(folders.create({}), 'qwen.gguf')
    const found = await runFake(['convert', goldenPath('qwen2'), out, ...args])
    expect(found.exitCode).toBe(exitCode)
    expect(found.stderr).toContain(`onsight: ${message}\n`)
  })

  it.each([
    [{}, /expected pictures or one \.jsonl file with questions, found neither/],
    [{ 'a.jsonl': '{"ask": "Who?"}', 'b.jsonl': '' }, /expected one \.jsonl file, found a\.jsonl, b\.jsonl/],
    [{ 'a.jsonl': '{"ask": "Who?", "picture": "gone.png"}' }, /gone\.png: no such file/],
    [{ 'a.jsonl': '{"ask": 3}' }, /a\.jsonl:1, turn 1: "ask" should be a text/],
  ])('refuses the calibration folder %j', async (files, message) => {
    const folder = folders.create(files)
    const out = join(folders.create({}), 'llava.gguf')
    const { stderr } = await runFake(['convert', LLAVA, out, '--calibrate', folder])
    expect(stderr).toMatch(message)
  })

  it('calibrates on pictures alone', async () => {
    const folder = folders.create({ 'one.png': readFileSync(goldenPath('llava/picture-0.png')) })
    const out = join(folders.create({}), 'llava.gguf')
    const { stdout } = await runFake(['convert', LLAVA, out, '--calibrate', folder, '--threads', '1'])
    expect(stdout).toMatch(
      /\nloss on calibration answers held out: mean KL [\d.e-]+ nats, [\d.]+% same likeliest token \(\d+ tokens\)\n$/,
    )
  })
})
