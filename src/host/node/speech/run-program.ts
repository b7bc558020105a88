/** Child processes: text on standard input, never in arguments, no shell, gone soon after they are told to. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createAbortError } from '../../../shared/abort.ts'
import { EngineError } from '../../../shared/errors.ts'

export interface ProgramRun {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
  readonly signal?: AbortSignal
}

export interface ProgramOutput {
  readonly stdout: Buffer
  /** The beginning of it. */
  readonly stderr: string
}

/** A program that does not end when asked is made to. Both together are within the 200 ms that speech may go on. */
const KILL_AFTER_MS = 100
/** Of messages; programs may print them for hours. */
const MAX_STDERR = 4000

/** Starts a program with pipes. Standard errors of writing to one that has ended are left to its exit code. */
export function startProgram({ command, args, env }: ProgramRun): ChildProcessWithoutNullStreams {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  child.stdin.on('error', () => {})
  return child
}

/** Ends a program, first asking. */
export function stopProgram(child: ChildProcessWithoutNullStreams): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  child.once('exit', () => clearTimeout(timer))
}

/**
 * Runs a program to its end.
 *
 * @throws An `AbortError`, or EngineError `audio/program-failed` with what it said.
 */
export function runProgram(run: ProgramRun): Promise<ProgramOutput> {
  const { signal, input = '' } = run
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(createAbortError())
      return
    }
    const child = startProgram(run)
    const stdout: Buffer[] = []
    let stderr = ''
    const onAbort = (): void => {
      stopProgram(child)
      reject(createAbortError())
    }
    signal?.addEventListener('abort', onAbort)
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += chunk.toString()
    })
    child.on('error', (cause) => reject(failure(run, cause.message, cause)))
    child.on('close', (code, killedBy) => {
      signal?.removeEventListener('abort', onAbort)
      if (code === 0) resolve({ stdout: Buffer.concat(stdout), stderr })
      else reject(failure(run, stderr.trim() || `it ended with ${killedBy ?? `code ${code}`}`))
    })
    child.stdin.end(input)
  })
}

export function failure(
  { command }: Pick<ProgramRun, 'command'>,
  reason: string,
  cause?: unknown,
): EngineError {
  return new EngineError('audio/program-failed', {
    message: `${command} failed: ${reason.slice(0, 300)}`,
    hint: 'Try the program by itself; it belongs to the system, not to Onsight.',
    ...(cause !== undefined && { cause }),
  })
}
