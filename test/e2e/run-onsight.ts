/** Runs the built command as a process. Build first: `npm run build`. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const CASES = fileURLToPath(new URL('../golden/tiny-cases/', import.meta.url))

export interface Run {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunSettings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  readonly cwd?: string
  readonly during?: (child: ChildProcessWithoutNullStreams) => void
}

/** Only what is named reaches the process from the environment, so that results are the same everywhere. */
export function runOnsight(
  args: readonly string[],
  { env = {}, input, cwd, during }: RunSettings = {},
): Promise<Run> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    ...(cwd !== undefined && { cwd }),
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  // Whoever does not read its input may close it early.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  during?.(child)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode) =>
      resolve({ exitCode, stdout: String(Buffer.concat(out)), stderr: String(Buffer.concat(err)) }),
    )
  })
}

export interface TinyTurn {
  readonly ask: string
  /** What Transformers says in float32. */
  readonly says: string
  readonly tokenIds: readonly number[]
}

/** A picture with questions, and what the reference says to them. */
export function readTinyCase(id: string): { readonly picture: string; readonly turns: readonly TinyTurn[] } {
  const lines = readFileSync(`${CASES}cases.jsonl`, 'utf8').trimEnd().split('\n')
  const found = lines.map((line) => JSON.parse(line)).find((one) => one.id === id)
  if (found === undefined) throw new Error(`No case ${id} in cases.jsonl.`)
  return { picture: `${CASES}${found.picture}`, turns: found.turns }
}
