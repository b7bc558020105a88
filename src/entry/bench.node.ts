/** `onsight bench` in Node: the measurements, with the machine they were made on and the memory they took. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { arch, cpus, platform } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BenchRequest, measureModel } from '../engine/bench.ts'
import type { FirstWordMs } from '../engine/bench-first-word.ts'
import { createEngineHost } from './engine-host.node.ts'

export interface BenchReport {
  readonly numbers: Readonly<Record<string, number>>
  readonly firstWordMs: FirstWordMs
  readonly environment: Readonly<Record<string, string | number>>
}

export async function runBench(
  subject: string | { readonly shape: string },
  request: BenchRequest,
): Promise<BenchReport> {
  const { numbers, firstWordMs, backend, threads } = await measureModel(createEngineHost(), subject, request)
  return {
    numbers: { ...numbers, peakResidentMegabytes: process.resourceUsage().maxRSS / 1e3 },
    firstWordMs,
    environment: {
      subject: typeof subject === 'string' ? subject : subject.shape,
      machine: `${cpus()[0]?.model.trim() ?? 'unknown'} (${cpus().length} cores, ${platform()} ${arch()})`,
      node: process.version,
      backend,
      threads,
      ...(await describeBuild()),
    },
  }
}

const PACKAGE = new URL('../../', import.meta.url)

/** Version, and in a checkout the commit, with `+` where files differ from it. */
async function describeBuild(): Promise<{ build: string; commit?: string }> {
  const { version } = JSON.parse(await readFile(new URL('package.json', PACKAGE), 'utf8')) as {
    version: string
  }
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: fileURLToPath(PACKAGE) })).stdout.trim()
  try {
    // An installed package may lie inside somebody else's checkout.
    if ((await git('rev-parse', '--show-prefix')) !== '') return { build: version }
    const changes = await git('status', '--porcelain', '--untracked-files=no')
    return { build: version, commit: (await git('rev-parse', '--short', 'HEAD')) + (changes ? '+' : '') }
  } catch {
    return { build: version } // no git, or no checkout
  }
}
