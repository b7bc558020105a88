/** The memory of whole processes stays below the limit that they were given. Runs the built package. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'
import type { MemoryPlan } from '../../src/engine/types.ts'
import { goldenPath } from '../support/golden-model.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'
import { runOnsight } from './run-onsight.ts'

const SCRIPT = fileURLToPath(new URL('../support/peak-memory.mjs', import.meta.url))
const TINY = goldenPath('../../models/tiny')
const MB = 1e6
const folders = useTemporaryFolders()
const run = promisify(execFile)

interface Peak {
  readonly peakBytes: number
  readonly plan: MemoryPlan
  readonly promptTokens: number
}

async function measure(limitMegabytes: number, maxTokens: number, ...pictures: string[]): Promise<Peak> {
  const args = [SCRIPT, TINY, String(limitMegabytes * MB), String(maxTokens), ...pictures]
  return JSON.parse((await run(process.execPath, args)).stdout)
}

/** As a phone makes it: 12 million pixels, turned by a tag. Noise, so that no decoder has it easy. */
async function phonePhoto(): Promise<string> {
  const path = join(folders.create({}), 'photo.jpg')
  const noise = {
    create: {
      width: 500,
      height: 375,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  }
  await sharp(noise as never)
    .resize(4000, 3000)
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toFile(path)
  return path
}

describe('peak memory of a process', () => {
  /** What the tiny model needs at least on this machine and version of Node. */
  let least: number
  beforeAll(async () => {
    const { exitCode, stderr } = await runOnsight([
      'describe',
      goldenPath('../../models/demo.png'),
      '--memory-limit',
      '50MB',
    ])
    expect(exitCode).toBe(5)
    least = Number(/needs at least (\d+) MB/.exec(stderr)?.[1])
  })

  it.each([10, 40, 120])(
    '%i MB above the least: below the limit, with a long conversation about large pictures',
    async (more) => {
      const limit = least + more
      const photo = await phonePhoto()
      const { peakBytes, plan, promptTokens } = await measure(limit, 40, photo, photo, photo)
      expect(plan.limitBytes).toBe(limit * MB)
      expect(plan.totalBytes).toBeLessThanOrEqual(limit * MB)
      expect(peakBytes).toBeLessThan(limit * MB)
      expect(promptTokens).toBeGreaterThan(1000)
    },
  )

  it('grows where it is not limited', async () => {
    // Else the test above shows nothing.
    const { peakBytes } = await measure(10_000, 10, await phonePhoto())
    expect(peakBytes).toBeGreaterThan((least + 10) * MB)
  })
})

describe('--memory-limit', () => {
  const demo = goldenPath('../../models/demo.png')

  it('is refused with numbers, before anything is loaded', async () => {
    const { exitCode, stdout, stderr } = await runOnsight(['describe', demo, '--memory-limit', '60MB'])
    expect([exitCode, stdout]).toEqual([5, ''])
    expect(stderr).toMatch(
      /needs at least \d+ MB \(\d+ MB for the program, \d+ MB for weights, .*\); the memory limit is 60 MB\.\n/,
    )
    expect(stderr).toMatch(/→ Of the same model, --precision q4 needs \d+ MB\. Or raise the limit\.\n/)
  })

  it('is told with what it leads to, and the answer is the same', async () => {
    const limited = await runOnsight(['describe', demo, '--memory-limit', '1GB'])
    const unlimited = await runOnsight(['describe', demo])
    expect([limited.exitCode, limited.stdout]).toEqual([0, unlimited.stdout])
    const lines = limited.stderr.split('\n')
    const first = lines.findIndex((line) => /^Memory, at most \S+ \S+ of 1\.00 GB:$/.test(line))
    expect(lines.slice(first + 1, first + 7).map((line) => line.replace(/^ *[\d.]+ \wB {2}/, ''))).toEqual([
      'the program, its threads, compiled code',
      'weights',
      'computing',
      'keys and values of a conversation',
      'what pictures became',
      'reading a picture',
    ])
    expect(lines[first + 7]).toBe(
      'Conversations of up to 2048 tokens, keys and values f16, pictures of up to 64 tokens.',
    )
  })

  it('must be a size', async () => {
    const { exitCode, stderr } = await runOnsight(['describe', demo, '--memory-limit', 'much'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Expected a number of bytes, such as 400MB or 1.5GB.')
  })
})
