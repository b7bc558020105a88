/** Programs made up for tests: they note how they were called and do what the test says. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProgramHost } from './find-command.ts'

export interface ProgramNote {
  readonly args: readonly string[]
  readonly input: string
  readonly pid: number
  readonly env: Readonly<Record<string, string | undefined>>
}

export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'onsight-programs-'))

  host(platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): ProgramHost {
    return { platform, env: { PATH: this.folder, ...env } }
  }

  /**
   * @param script Runs with `args`, `input` (standard input as a Buffer, once it has ended) and `note()`; not before
   * the call was noted.
   */
  add(name: string, script: string): void {
    const path = join(this.folder, name)
    const log = JSON.stringify(join(this.folder, `${name}.log`))
    writeFileSync(
      path,
      `#!${process.execPath}
const { appendFileSync, writeFileSync, writeSync, closeSync } = require('node:fs')
const args = process.argv.slice(2)
const { ONSIGHT_VOICE, ONSIGHT_RATE, ONSIGHT_WAVE } = process.env
const note = (input) => appendFileSync(${log}, JSON.stringify({ args, input: String(input), pid: process.pid, env: { ONSIGHT_VOICE, ONSIGHT_RATE, ONSIGHT_WAVE } }) + '\\n')
const chunks = []
process.stdin.on('data', (chunk) => chunks.push(chunk))
process.stdin.on('end', () => { const input = Buffer.concat(chunks); ${script} })
`,
    )
    chmodSync(path, 0o755)
  }

  notes(name: string): ProgramNote[] {
    const text = readFileSync(join(this.folder, `${name}.log`), 'utf8')
    return text
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
