import { mkdirSync } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { BUNDLED_PATH, runFake } from './fake-context.case.ts'

const TENSORS = [
  { name: 'input_ids', shape: [3], data: Int32Array.of(1, 2, -3) },
  // A view in the middle of a larger buffer.
  { name: 'hidden.10', shape: [1, 2], data: Float32Array.of(0, 0.5, -0.25, 9).subarray(1, 3) },
]

const folders: string[] = []
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trace-'))
  folders.push(folder)
})
afterAll(() => Promise.all(folders.map((one) => rm(one, { recursive: true }))))

describe('onsight trace', () => {
  it('writes the tensors and says what they are', async () => {
    const out = join(folder, 'run.safetensors')
    const { exitCode, stdout, stderr, calls } = await runFake(
      ['trace', 'tiny', '--ask', 'Who?', '--out', out],
      {
        tensors: TENSORS,
      },
    )
    expect([exitCode, stdout]).toEqual([0, ''])
    expect(stderr).toBe(`input_ids  I32  [3]\nhidden.10  F32  [1, 2]\n→ ${out}\n`)
    expect(calls.loads[0]).toMatchObject({ reference: BUNDLED_PATH, options: { precision: 'f32' } })
    expect(calls.traces).toEqual([{ ask: 'Who?', detail: 'high', greedyTokens: 64 }])
    const file = await readFile(out)
    const headerLength = Number(file.readBigUInt64LE(0))
    expect(JSON.parse(file.toString('utf8', 8, 8 + headerLength))).toEqual({
      __metadata__: { format: 'pt' },
      'hidden.10': { dtype: 'F32', shape: [1, 2], data_offsets: [0, 8] },
      input_ids: { dtype: 'I32', shape: [3], data_offsets: [8, 20] },
    })
    const data = file.subarray(8 + headerLength)
    expect([data.readFloatLE(0), data.readFloatLE(4)]).toEqual([0.5, -0.25])
    expect([data.readInt32LE(8), data.readInt32LE(12), data.readInt32LE(16)]).toEqual([1, 2, -3])
    expect(await readdir(folder)).toEqual(['run.safetensors'])
  })

  it('passes on a raw prompt, a picture and the other options', async () => {
    const out = join(folder, 'run.safetensors')
    const picture = import.meta.filename
    const { exitCode, calls } = await runFake(
      [
        ...['trace', './m', '--prompt', '<image>Hi', '--image', picture, '--out', out],
        ...['--precision', 'q4', '--greedy', '0', '--detail', 'low', '--mmproj', 'p.gguf', '--threads', '2'],
      ],
      { tensors: TENSORS },
    )
    expect(exitCode).toBe(0)
    expect(calls.loads[0]).toMatchObject({
      reference: './m',
      options: { precision: 'q4', projector: 'p.gguf', threads: 2 },
    })
    expect(calls.traces).toEqual([{ prompt: '<image>Hi', image: picture, detail: 'low', greedyTokens: 0 }])
  })

  it.each([
    [[], 'neither'],
    [['--ask', 'a', '--prompt', 'b'], 'both'],
  ])('wants one kind of prompt: %j', async (args, found) => {
    const { exitCode, stderr } = await runFake(['trace', 'm', '--out', join(folder, 'x'), ...args])
    expect(exitCode).toBe(2)
    expect(stderr.split('\n')[0]).toBe(`onsight: trace: expected either --ask or --prompt, found ${found}.`)
  })

  it('looks at the target before it loads the model', async () => {
    const missing = join(folder, 'none', 'x.safetensors')
    const nowhere = await runFake(['trace', 'm', '--ask', 'a', '--out', missing])
    expect([nowhere.exitCode, nowhere.calls.loads]).toEqual([2, []])
    expect(nowhere.stderr).toBe(
      `onsight: --out ${missing}: the folder ${join(folder, 'none')} does not exist.\n  → Make the folder first.\n`,
    )
    const onFolder = await runFake(['trace', 'm', '--ask', 'a', '--out', folder])
    expect([onFolder.exitCode, onFolder.calls.loads]).toEqual([2, []])
    expect(onFolder.stderr).toBe(`onsight: --out ${folder}: expected a file name, found a folder.\n`)
  })

  it.skipIf(process.platform === 'win32')('replaces no device, and writes no file called -', async () => {
    const device = join(folder, 'null')
    await symlink('/dev/null', device)
    const onDevice = await runFake(['trace', 'm', '--ask', 'a', '--out', device])
    expect([onDevice.exitCode, onDevice.calls.loads]).toEqual([2, []])
    expect(onDevice.stderr).toBe(
      `onsight: --out ${device}: expected a file name, found a device, pipe or socket.\n`,
    )
    const onStdout = await runFake(['trace', 'm', '--ask', 'a', '--out', '-'])
    expect([onStdout.exitCode, onStdout.calls.loads]).toEqual([2, []])
    expect(onStdout.stderr).toBe(
      'onsight: --out -: expected a file name; a trace does not go to standard output.\n',
    )
  })

  it.skipIf(process.platform === 'win32')('writes where a link leads to and keeps the link', async () => {
    const target = join(folder, 'old.safetensors')
    const link = join(folder, 'link.safetensors')
    await writeFile(target, 'old')
    await symlink(target, link)
    const { exitCode } = await runFake(['trace', 'm', '--ask', 'a', '--out', link], { tensors: TENSORS })
    expect(exitCode).toBe(0)
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect((await readFile(target)).readBigUInt64LE(0)).toBeGreaterThan(0n)
    expect((await readdir(folder)).sort()).toEqual(['link.safetensors', 'old.safetensors'])
  })

  it('leaves nothing behind when writing fails', async () => {
    const out = join(folder, 'run.safetensors')
    const { exitCode, stderr } = await runFake(['trace', 'm', '--ask', 'a', '--out', out], {
      // A folder that came to be meanwhile: no file can take its place.
      get tensors() {
        mkdirSync(join(out, 'full'), { recursive: true })
        return TENSORS
      },
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`onsight: ${out}: writing`)
    expect(await readdir(folder)).toEqual(['run.safetensors'])
  })
})
