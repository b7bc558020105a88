import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHub, GOOD_TOKEN } from '../../test/support/fake-hub.ts'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import { type FakeRun, type FakeSettings, runFake } from './fake-context.case.ts'

const ID = 'someone/Thing-GGUF'
const GGUF = `GGUF${'x'.repeat(996)}`
const folders = useTemporaryFolders()

let fake: FakeHub
let home: string
beforeEach(async () => {
  fake = await FakeHub.start()
  home = folders.create({})
  fake.setRepository(ID, {
    files: { 'Thing-Q8_0.gguf': GGUF, 'Thing-f16.gguf': `${GGUF}${GGUF}` },
    licence: 'mit',
  })
})
afterEach(() => fake.stop())

function run(
  args: readonly string[],
  settings: FakeSettings = {},
  during?: Parameters<typeof runFake>[2],
): Promise<FakeRun> {
  const env = {
    ONSIGHT_HOME: home,
    HF_ENDPOINT: fake.endpoint,
    HF_TOKEN_PATH: '/nowhere',
    HOME: home,
    ...settings.env,
  }
  return runFake(args, { ...settings, env }, during)
}

const commit = (): string => fake.commitOf(ID).slice(0, 12)

describe('onsight pull', () => {
  it('prints where the model is, and how to use it', async () => {
    const { exitCode, stdout, stderr } = await run(['pull', ID])
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `${join(home, 'models', ID, `${commit()}+Thing-Q8_0`)}\n`,
      stderr: `${ID}: 1 file, 1.00 kB; licence mit\nStored. Use it with: onsight describe PICTURE --model ${ID}\n`,
    })
    const again = await run(['pull', ID])
    expect([again.exitCode, again.stdout, again.stderr]).toEqual([
      0,
      stdout,
      `${ID} is stored already; nothing was fetched.\n`,
    ])
  })

  it('speaks Chinese where the locale is', async () => {
    const { stderr } = await run(['pull', ID], { env: { LANG: 'zh_CN.UTF-8' } })
    expect(stderr).toBe(
      `${ID}：1 个文件，1.00 kB; 许可证 mit\n已保存。使用方法：onsight describe 图片 --model ${ID}\n`,
    )
  })

  it('takes a file and a revision', async () => {
    const { stdout } = await run(['pull', ID, '--file', 'f16', '--revision', 'main', '--json', '--quiet'])
    const printed = JSON.parse(stdout)
    expect(printed).toMatchObject({
      id: ID,
      variant: 'Thing-f16',
      requestedRevision: 'main',
      licence: 'mit',
      byteLength: 2000,
      wasStored: false,
    })
    expect(printed.files.map(({ name }: { name: string }) => name)).toEqual(['Thing-f16.gguf'])
  })

  it('shows progress on a terminal', async () => {
    const { stderr } = await run(['pull', ID], { isTerminal: true, columns: 100 })
    expect(stderr).toContain(`\r\u001b[KFetching ${ID} [########################] 100%`)
    expect(
      (await run(['pull', ID, '--file', 'f16'], { isTerminal: true, env: { TERM: 'dumb' } })).stderr,
    ).toContain(`Fetching ${ID} …\n`)
  })

  it('tells what is wrong and what to do', async () => {
    fake.setRepository('someone/Gated', { files: { 'a.gguf': GGUF }, isGated: true })
    const { exitCode, stdout, stderr } = await run(['pull', 'someone/Gated'], {
      env: { HF_TOKEN: 'hf_secret' },
    })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      'someone/Gated: 1 file, 1.00 kB\n' +
        'onsight: a.gguf is not open to this HF_TOKEN (403, GatedRepo).\n' +
        `  → See that the token is valid and may read gated models, and accept the licence at ${fake.endpoint}/someone/Gated with its account.\n`,
    )
    const debug = await run(['pull', 'someone/Gated', '--debug'], { env: { HF_TOKEN: 'hf_secret' } })
    expect(debug.stderr).not.toContain('hf_secret')
    expect((await run(['pull', 'someone/Gated'], { env: { HF_TOKEN: GOOD_TOKEN } })).exitCode).toBe(0)
  })

  it('refuses what is no reference, and lists the catalogue', async () => {
    const { exitCode, stderr } = await run(['pull', './folder'])
    expect(exitCode).toBe(1)
    expect(stderr.split('\n')[0]).toBe(
      'onsight: "./folder" is no model of the hub: expected owner/name, an address, or a name of the catalogue.',
    )
    const { stdout } = await run(['pull', '--help'])
    expect(stdout).toContain(
      '  smolvlm-256m        smallest; pictures and short questions, about 513 MB; apache-2.0\n',
    )
    expect(stdout).toContain(
      '  smolvlm2-2.2b-gguf  quantised pair of text model and projector, about 1.71 GB; apache-2.0\n',
    )
  })

  it('stops when interrupted and goes on the next time', async () => {
    fake.addFaults('Thing-Q8_0.gguf', { kind: 'stall', afterBytes: 400 })
    const { exitCode, stdout, stderr } = await run(['pull', ID], {}, (interrupts) => {
      const timer = setInterval(() => {
        if (!fake.requests.some(({ server }) => server === 'store')) return
        clearInterval(timer)
        setTimeout(() => interrupts.raise('SIGINT'), 100)
      }, 10)
    })
    expect([exitCode, stdout]).toEqual([130, ''])
    expect(stderr.split('\n').at(-2)).toBe('Stopped. The same command goes on where it stopped.')
    const again = await run(['pull', ID])
    expect(again.stderr.split('\n')[0]).toBe(
      `${ID}: 1 file, 1.00 kB; 400 B of it are here from an earlier try; licence mit`,
    )
    expect(fake.rangesOf('Thing-Q8_0.gguf')).toEqual([undefined, 'bytes=400-'])
  })
})

describe('onsight list', () => {
  it('says what to do when there is nothing', async () => {
    const { exitCode, stdout, stderr } = await run(['list'])
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      '',
      'Nothing is stored. onsight pull smolvlm-500m fetches a model for photos.\n',
    ])
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({ models: [], unfinished: [] })
  })

  it('shows what is stored, what is unfinished, and what others hold', async () => {
    await run(['pull', ID])
    fake.addFaults('Thing-f16.gguf', { kind: 'status', status: 404 })
    await run(['pull', ID, '--file', 'f16'])
    const cache = folders.create({ 'a.gguf': '12345' })
    const env = { LLAMA_CACHE: cache, HF_HUB_CACHE: cache, OLLAMA_MODELS: cache }
    const { stdout } = await run(['list', '--all'], { env })
    expect(stdout).toBe(
      `${ID}@${commit()}  1.00 kB  mit         Thing-Q8_0\n` +
        `${ID.padEnd(31)}      0 B  unfinished\n` +
        `${'a'.padEnd(31)}      5 B  llama.cpp   ${join(cache, 'a.gguf')}\n`,
    )
    const printed = JSON.parse((await run(['list', '--all', '--json'], { env })).stdout)
    expect(printed.models[0]).toMatchObject({ id: ID, variant: 'Thing-Q8_0' })
    expect(printed.unfinished).toEqual([
      { id: ID, location: join(home, 'downloads', ID, 'Thing-f16'), byteLength: 0 },
    ])
    expect(printed.others).toEqual([
      { program: 'llama.cpp', name: 'a', path: join(cache, 'a.gguf'), byteLength: 5 },
    ])
  })
})

describe('onsight verify', () => {
  it('finds damage, says how to mend it, and exits with 4', async () => {
    const { stdout: location } = await run(['pull', ID])
    expect(await run(['verify'])).toMatchObject({
      exitCode: 0,
      stdout: `${ID}@${commit()}  intact\n`,
      stderr: '',
    })
    const path = join(location.trim(), 'Thing-Q8_0.gguf')
    await writeFile(path, (await readFile(path, 'utf8')).replace('x', 'y'))
    const { exitCode, stdout, stderr } = await run(['verify', ID])
    expect(exitCode).toBe(4)
    expect(stdout).toMatch(
      new RegExp(
        `^${ID}@${commit()}  damaged\n  Thing-Q8_0\\.gguf: wrong-hash, expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}\\.\n$`,
      ),
    )
    expect(stderr).toBe(`To fetch it anew: onsight rm ${ID}, then onsight pull ${ID}\n`)
    const json = JSON.parse((await run(['verify', '--json'])).stdout)
    expect(json).toMatchObject({ isIntact: false, models: [{ id: ID, isIntact: false }] })
  })

  it('knows only what is stored', async () => {
    const { exitCode, stderr } = await run(['verify', ID])
    expect([exitCode, stderr.split('\n')[0]]).toEqual([4, `onsight: ${ID} is not among the stored models.`])
  })
})

describe('onsight rm', () => {
  it('frees models and says how much', async () => {
    await run(['pull', ID])
    const { exitCode, stdout } = await run(['rm', ID])
    expect([exitCode, stdout]).toEqual([0, `${ID}@${commit()} removed, 1.00 kB free again.\n`])
    const again = await run(['rm', ID])
    expect([again.exitCode, again.stderr.split('\n')[0]]).toEqual([
      4,
      `onsight: ${ID} is not among the stored models.`,
    ])
  })

  it('prints one object', async () => {
    await run(['pull', ID])
    expect(JSON.parse((await run(['rm', ID, '--json'])).stdout)).toEqual({
      removed: [{ id: ID, revision: fake.commitOf(ID), freedBytes: 1000 }],
    })
  })
})
