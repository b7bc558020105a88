#!/usr/bin/env node
/** The `onsight` command as a process: streams, signals and the exit code. */
import process from 'node:process'
import type { CommandContext, OutputStream } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { type InterruptName, Interrupts } from './interrupts.ts'
import { runCli } from './program.ts'
import { Terminal } from './terminal.ts'

const interrupts = new Interrupts()

function onInterrupt(name: InterruptName): void {
  if (interrupts.exitCode !== undefined) process.exit(interrupts.exitCode)
  interrupts.raise(name)
}
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => onInterrupt(name))
interrupts.signal.addEventListener('abort', () => {
  setTimeout(() => process.exit(interrupts.exitCode), interrupts.graceMs).unref()
})

const context: CommandContext = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  interrupts,
  loadEngine: () => import('../entry/index.node.ts'),
  loadSpeech: () => import('../entry/speech.node.ts'),
  loadBench: async () => (await import('../entry/bench.node.ts')).runBench,
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the answer may leave early, as `head` does; that is no failure.
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  new Terminal(context).complain(`Writing to standard output failed (${error.message}).`)
  process.exit(EXIT.failed)
})
// Nobody is left to tell.
process.stderr.on('error', () => {})

await leave(await runCli(process.argv.slice(2), context))

/** Not `process.exit` alone: pipes may still hold output. Not the natural end alone: standard input may stay open. */
async function leave(exitCode: ExitCode): Promise<never> {
  await Promise.all([flush(process.stdout), flush(process.stderr)])
  return process.exit(exitCode)
}

function flush(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
