import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHub } from '../support/fake-hub.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'
import { type Run, type RunSettings, readTinyCase, runOnsight } from './run-onsight.ts'

const TINY = fileURLToPath(new URL('../../models/tiny/', import.meta.url))
const ID = 'someone/Tiny-Instruct'
const WEIGHTS = 'model.safetensors'
const KILLS = 8
/** Of the files of the model: not the notes on how it was made. */
const NEEDED = [
  'chat_template.json',
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'preprocessor_config.json',
  'processor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
]
const folders = useTemporaryFolders()

let fake: FakeHub
let env: Record<string, string>
beforeEach(async () => {
  fake = await FakeHub.start()
  env = { ONSIGHT_HOME: folders.create({}), HF_ENDPOINT: fake.endpoint, HF_TOKEN_PATH: '/nowhere' }
  const files = Object.fromEntries(readdirSync(TINY).map((name) => [name, readFileSync(join(TINY, name))]))
  fake.setRepository(ID, { files, licence: 'mit' })
})
afterEach(() => fake.stop())

const run = (args: readonly string[], settings: RunSettings = {}): Promise<Run> =>
  runOnsight(args, { env, ...settings })

/** `onsight pull` that gets a signal as soon as the condition holds. */
function killedWhen(isTime: () => boolean, signal: 'SIGKILL' | 'SIGINT'): Promise<Run> {
  return run(['pull', ID], {
    during: (child) => {
      const timer = setInterval(() => {
        if (!isTime()) return
        clearInterval(timer)
        child.kill(signal)
      }, 5)
      child.once('exit', () => clearInterval(timer))
    },
  })
}

/** A model that answers as the reference does was pulled whole. */
async function expectAnswer(reference: string): Promise<void> {
  const { picture, turns } = readTinyCase('024')
  const args = [
    'describe',
    picture,
    '--ask',
    turns[0]!.ask,
    '--model',
    reference,
    '--precision',
    'f32',
    '--quiet',
  ]
  const { exitCode, stdout, stderr } = await run(args)
  expect({ exitCode, stdout: stdout.trimStart(), stderr }).toEqual({
    exitCode: 0,
    stdout: `${turns[0]!.says}\n`,
    stderr: '',
  })
}

describe('onsight pull', () => {
  it('survives being killed at any moment, and the model answers without the hub', async () => {
    const random = new SeededRandom(20261130)
    for (let kill = 0; kill < KILLS; kill++) {
      fake.addFaults(WEIGHTS, { kind: 'slow', pieceBytes: 100_000, pauseMs: 25 })
      // Any time after the start, or any number of bytes after the first.
      const atMs = kill % 2 === 0 ? performance.now() + 100 + random.below(700) : Number.POSITIVE_INFINITY
      const atByte = fake.sentBytesOf(WEIGHTS) + 1 + random.below(1_500_000)
      const isTime = (): boolean =>
        performance.now() >= atMs ||
        (atMs === Number.POSITIVE_INFINITY && fake.sentBytesOf(WEIGHTS) >= atByte)
      expect((await killedWhen(isTime, 'SIGKILL')).exitCode).toBeNull()
      expect(JSON.parse((await run(['list', '--json'])).stdout).models).toEqual([])
    }
    const { exitCode, stdout, stderr } = await run(['pull', ID])
    expect([exitCode, stderr.split('\n').at(-2)]).toEqual([
      0,
      `Stored. Use it with: onsight describe PICTURE --model ${ID}`,
    ])
    // Every run went on where the one before was killed, and none began anew.
    const offsets = fake
      .rangesOf(WEIGHTS)
      .map((range) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0))
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
    expect(offsets.at(-1)).toBeGreaterThan(2_000_000)
    expect(stderr).not.toContain('anew')
    expect(readdirSync(stdout.trim()).sort()).toEqual([...NEEDED, 'onsight-model.json'].sort())
    expect(await run(['verify'])).toMatchObject({ exitCode: 0 })
    await fake.stop()
    await expectAnswer(ID)
    await expectAnswer(`${ID}@${fake.commitOf(ID).slice(0, 12)}`)
    fake = await FakeHub.start()
  })

  it('takes the lock of a killed process over at once', async () => {
    fake.addFaults(WEIGHTS, { kind: 'stall', afterBytes: 500_000 })
    const killed = await killedWhen(() => fake.sentBytesOf(WEIGHTS) >= 500_000, 'SIGKILL')
    expect(killed.exitCode).toBeNull()
    expect((await run(['pull', ID])).exitCode).toBe(0)
  })

  it('keeps a second process out while the first works', async () => {
    fake.addFaults(WEIGHTS, { kind: 'slow', pieceBytes: 2_000_000, pauseMs: 400 })
    let second: Promise<Run> | undefined
    const first = await run(['pull', ID], {
      during: () => {
        const timer = setInterval(() => {
          if (fake.sentBytesOf(WEIGHTS) === 0) return
          clearInterval(timer)
          second = run(['pull', ID])
        }, 10)
      },
    })
    expect(first.exitCode).toBe(0)
    const { exitCode, stderr } = await (second as Promise<Run>)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(new RegExp(`^onsight: ${ID} is being worked on by process \\d+\\.\n`))
  })

  it('stops on Ctrl-C and says that it goes on', async () => {
    fake.addFaults(WEIGHTS, { kind: 'stall', afterBytes: 500_000 })
    const isTime = (): boolean => fake.sentBytesOf(WEIGHTS) >= 500_000
    const { exitCode, stdout, stderr } = await killedWhen(isTime, 'SIGINT')
    expect([exitCode, stdout]).toEqual([130, ''])
    expect(stderr.split('\n').at(-2)).toBe('Stopped. The same command goes on where it stopped.')
  })
})

it('a model that is not stored says how to get it', async () => {
  const { picture } = readTinyCase('024')
  const { exitCode, stderr } = await run(['describe', picture, '--model', ID])
  expect(exitCode).toBe(4)
  expect(stderr).toBe(
    `onsight: There is no model at ${ID}, and none of that name is stored.\n  → Fetch it once with: onsight pull ${ID}\n`,
  )
  expect(fake.requests).toEqual([])
})
