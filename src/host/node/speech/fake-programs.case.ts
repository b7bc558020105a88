/** Programs made up for tests: they note how they were called and do what the test says. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProgramHost } from './find-command.ts'

export interface ProgramNote {
  readonly args: readonly string[]
  readonly input: string
  readonly bytes: readonly number[]
  readonly pid: number
  readonly env: Readonly<Record<string, string | undefined>>
}

export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'onsight-programs-'))

  host(platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): ProgramHost {
    return { platform, env: { PATH: this.folder, ...env } }
  }

  /**
   * @param script Runs when standard input has ended, with `args`, `input` (a Buffer) and `note(input)`.
   * @param early Runs at once.
   */
  add(name: string, script: string, early = ''): void {
    const path = join(this.folder, name)
    const log = JSON.stringify(join(this.folder, `${name}.log`))
    writeFileSync(
      path,
      `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const { ONSIGHT_VOICE, ONSIGHT_RATE, ONSIGHT_WAVE } = process.env
const note = (input) => appendFileSync(${log}, JSON.stringify({ args, input: String(input), bytes: [...Buffer.from(input)], pid: process.pid, env: { ONSIGHT_VOICE, ONSIGHT_RATE, ONSIGHT_WAVE } }) + '\\n')
const chunks = []
let input = Buffer.alloc(0)
process.stdin.on('data', (chunk) => chunks.push(chunk))
${early}
process.stdin.on('end', () => { input = Buffer.concat(chunks); ${script} })
`,
    )
    chmodSync(path, 0o755)
  }

  notes(name: string): ProgramNote[] {
    const path = join(this.folder, `${name}.log`)
    if (!existsSync(path)) return []
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ProgramNote)
  }

  /** Waits until a program that was noted has ended. */
  async untilGone({ pid }: ProgramNote): Promise<void> {
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
