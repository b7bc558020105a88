import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTinyCase, runOnsight } from './run-onsight.ts'

const TINY_MODEL = fileURLToPath(new URL('../../models/tiny', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onsight-'))
})
afterAll(() => rm(folder, { recursive: true }))

const conversation = readTinyCase('024')
const { picture } = conversation
const f32 = ['--precision', 'f32', '--quiet']

describe('onsight describe', () => {
  it('says what the reference says', async () => {
    const [turn] = conversation.turns
    const { exitCode, stdout, stderr } = await runOnsight(['describe', picture, '--ask', turn!.ask, ...f32])
    expect({ exitCode, stdout: stdout.trimStart(), stderr }).toEqual({
      exitCode: 0,
      stdout: `${turn!.says}\n`,
      stderr: '',
    })
  })

  it('prints one JSON object with the agreed fields', async () => {
    const { picture, turns } = readTinyCase('079')
    const { exitCode, stdout, stderr } = await runOnsight([
      'describe',
      picture,
      '--ask',
      turns[0]!.ask,
      '--json',
      ...f32,
    ])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toHaveLength(2)
    const turn = JSON.parse(stdout)
    expect(Object.keys(turn)).toEqual(['text', 'tokenIds', 'finishReason', 'usage', 'timings', 'image'])
    expect([turn.text.trimStart(), turn.tokenIds, turn.finishReason]).toEqual([
      turns[0]!.says,
      turns[0]!.tokenIds,
      'stop',
    ])
    expect(turn.usage).toEqual({
      promptTokens: expect.any(Number),
      imageTokens: 64,
      cachedTokens: 0,
      completionTokens: turns[0]!.tokenIds.length,
      draftedTokens: expect.any(Number),
      acceptedTokens: expect.any(Number),
    })
    expect(Object.keys(turn.timings)).toEqual([
      'loadMs',
      'imageEncodeMs',
      'prefillMs',
      'firstTokenMs',
      'tokensPerSecond',
    ])
    for (const value of Object.values(turn.timings)) expect(value).toBeGreaterThan(0)
    expect(turn.image).toEqual({
      width: 512,
      height: 512,
      usedWidth: 256,
      usedHeight: 256,
      tiles: 1,
      orientation: 1,
      cached: false,
    })
  })

  it('reads a picture from standard input and says what the bundled model knows', async () => {
    const [turn] = conversation.turns
    const args = ['describe', '-', '--ask', turn!.ask, '--precision', 'f32']
    const { exitCode, stdout, stderr } = await runOnsight(args, { input: await readFile(picture) })
    expect([exitCode, stdout.trimStart()]).toEqual([0, `${turn!.says}\n`])
    expect(stderr.split('\n')[0]).toMatch(/^The bundled tiny model knows only simple pictures/)
  })

  it('has colours only where they are wanted', async () => {
    const args = ['describe', join(folder, 'none.jpg')]
    const plain = await runOnsight(args)
    expect(plain.stderr).toMatch(/^onsight: /)
    expect((await runOnsight(args, { env: { FORCE_COLOR: '1' } })).stderr).toMatch(/^.\[31monsight:.\[39m /)
    // Some versions of Node warn when both are set.
    const both = await runOnsight(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })
    expect(both.stderr.endsWith(plain.stderr)).toBe(true)
  })
})

describe('onsight chat', () => {
  it('takes lines as turns and says what the reference says', async () => {
    const { turns } = conversation
    const { exitCode, stdout } = await runOnsight(['chat', picture, ...f32], {
      input: turns.map(({ ask }) => `${ask}\n`).join(''),
    })
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').map((line) => line.trimStart())).toEqual([...turns.map(({ says }) => says), ''])
  })

  it('prints an object a turn, the picture with the first only', async () => {
    const { turns } = conversation
    const { stdout } = await runOnsight(['chat', picture, '--json', ...f32], {
      input: turns.map(({ ask }) => `${ask}\n`).join(''),
    })
    const objects = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(objects.map(({ tokenIds }) => tokenIds)).toEqual(turns.map(({ tokenIds }) => tokenIds))
    expect(objects.map(({ image }) => image?.width ?? null)).toEqual([256, null, null])
  })

  it('goes on after a broken picture', async () => {
    const broken = join(folder, 'broken.png')
    await writeFile(broken, 'no picture')
    const { exitCode, stdout, stderr } = await runOnsight(['chat', picture, ...f32], {
      input: `/image ${broken}\nWhat?\n/image ${picture}\n${conversation.turns[0]!.ask}\n`,
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(broken)
    expect(stdout.trimStart()).toBe(`${conversation.turns[0]!.says}\n`)
  })
})

describe('onsight trace', () => {
  it('writes all stages under the names of the reference vectors', async () => {
    const out = join(folder, 'trace.safetensors')
    const args = ['trace', 'tiny', '--image', picture, '--ask', 'Hello?', '--out', out, '--greedy', '5']
    const { exitCode, stdout } = await runOnsight(args)
    expect([exitCode, stdout]).toEqual([0, ''])
    const file = await readFile(out)
    const header = JSON.parse(file.toString('utf8', 8, 8 + Number(file.readBigUInt64LE(0))))
    delete header.__metadata__
    expect(Object.keys(header).sort()).toEqual([
      'greedy',
      ...Array.from({ length: 7 }, (_, layer) => `hidden.${layer}`),
      'image_features',
      'input_ids',
      'logits',
      'pixel_values',
      'vision',
    ])
    expect([header.greedy.dtype, header.greedy.shape, header.pixel_values.shape]).toEqual([
      'I32',
      [5],
      [1, 3, 256, 256],
    ])
  })
})

describe('onsight demo', () => {
  it('describes the bundled picture', async () => {
    const { exitCode, stdout, stderr } = await runOnsight(['demo'])
    expect([exitCode, stdout.trimStart()]).toEqual([
      0,
      'I see a tree at the top left, a package at the bottom and a helicopter at the top right.\n',
    ])
    expect(stderr).toContain('models/demo.png')
  })

  it('does so in Chinese', async () => {
    const { exitCode, stdout } = await runOnsight(['demo'], { env: { LANG: 'zh_CN.UTF-8' } })
    expect([exitCode, stdout.trimStart()]).toEqual([
      0,
      '我看到左上角有一棵树，下方有一个包裹，右上角有一架直升机。\n',
    ])
  })
})

describe('exit codes', () => {
  it('2 for wrong usage', async () => {
    const { exitCode, stdout, stderr } = await runOnsight(['describe', picture, '--top-p', '2'])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')[0]).toBe(
      "onsight: option '--top-p <share>' argument '2' is invalid. Expected a number above 0 and up to 1.",
    )
    expect((await runOnsight(['bench', '--shape', 'gigantic'])).exitCode).toBe(2)
  })

  it.each([
    ['a missing picture', 'none.jpg', undefined],
    ['a text as a picture', 'text.jpg', 'not a picture'],
    ['an empty picture', 'empty.jpg', ''],
  ])('1 for %s', async (_, name, content) => {
    const path = join(folder, name)
    if (content !== undefined) await writeFile(path, content)
    const { exitCode, stdout, stderr } = await runOnsight(['describe', path, '--quiet'])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr.split('\n')[0]!.startsWith(`onsight: ${path}: `)).toBe(true)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it('1 for a folder as a picture', async () => {
    const { exitCode, stderr } = await runOnsight(['describe', folder, '--quiet'])
    expect(exitCode).toBe(1)
    expect(stderr).toBe(
      `onsight: ${folder}: expected a file, found a directory.\n  → Name a file inside the directory.\n`,
    )
  })

  it('4 for a model that is missing or none', async () => {
    const empty = join(folder, 'empty')
    await mkdir(empty)
    const text = join(folder, 'text.gguf')
    await writeFile(text, 'not a model')
    const cut = join(folder, 'cut')
    await mkdir(cut)
    for (const name of [
      'config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'preprocessor_config.json',
    ]) {
      await writeFile(join(cut, name), await readFile(join(TINY_MODEL, name)))
    }
    const weights = await readFile(join(TINY_MODEL, 'model.safetensors'))
    await writeFile(join(cut, 'model.safetensors'), weights.subarray(0, weights.length / 2))
    for (const model of [join(folder, 'nowhere'), empty, text, cut]) {
      const { exitCode, stdout, stderr } = await runOnsight([
        'describe',
        picture,
        '--model',
        model,
        '--quiet',
      ])
      expect([model, exitCode, stdout]).toEqual([model, 4, ''])
      expect(stderr).toMatch(/^onsight: .+\n/)
      expect(stderr).not.toMatch(/^\s+at /m)
    }
  })
})

describe('leaving early', () => {
  const endless = [
    'describe',
    picture,
    '--quiet',
    '--ignore-eos',
    '--max-tokens',
    '4000',
    '--repetition-penalty',
    '1.2',
  ]

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s it prints what there is and exits with %i', async (name, expected) => {
    let interruptedAt = 0
    const { exitCode, stdout, stderr } = await runOnsight(endless, {
      during: (child) =>
        child.stdout.once('data', () => {
          interruptedAt = performance.now()
          child.kill(name)
        }),
    })
    expect([exitCode, stderr]).toEqual([expected, ''])
    expect(stdout).toMatch(/^ ?I.*\n$/s)
    // A small part of what the rest of the answer would take.
    expect(performance.now() - interruptedAt).toBeLessThan(5000)
  })

  it('prints the object of an interrupted answer', async () => {
    const args = ['chat', picture, '--json', '--quiet', '--ignore-eos', '--max-tokens', '400']
    const { exitCode, stdout } = await runOnsight(args, {
      input: 'What do you see?\nWhere is it?\n',
      // The end of the first answer tells that the second is about to begin.
      during: (child) => child.stdout.once('data', () => setTimeout(() => child.kill('SIGINT'), 100)),
    })
    expect(exitCode).toBe(130)
    const reasons = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).finishReason)
    expect(reasons.slice(1)).toEqual(['aborted'])
  })

  it('on SIGINT while loading it leaves at once', async () => {
    const { exitCode, stdout } = await runOnsight(['describe', picture], {
      during: (child) => child.stderr.once('data', () => child.kill('SIGINT')),
    })
    expect([exitCode, stdout]).toEqual([130, ''])
  })

  it('ends quietly when nobody reads on', async () => {
    const { exitCode, stderr } = await runOnsight(endless, {
      during: (child) => child.stdout.once('data', () => child.stdout.destroy()),
    })
    expect([exitCode, stderr]).toEqual([0, ''])
  })
})
