/** `onsight trace`: every stage of one run in a safetensors file, to compare with other implementations. */
import { randomUUID } from 'node:crypto'
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Detail, TraceTensor } from '../engine/types.ts'
import { type SafetensorsTensor, writeSafetensors } from '../formats/safetensors/write-safetensors.ts'
import { EngineError } from '../shared/errors.ts'
import { loadOptionsOf, type ModelOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { untilAborted } from './interrupts.ts'
import { findPictures, STDIN_NAME } from './pictures.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { withModel } from './with-model.ts'

export interface TraceOptions extends TerminalOptions, Omit<ModelOptions, 'model'> {
  readonly out: string
  readonly image?: string
  readonly ask?: string
  readonly prompt?: string
  readonly detail: Detail
  readonly greedy: number
}

export async function runTrace(
  reference: string,
  options: TraceOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { out, ask, prompt } = options
  if ((ask === undefined) === (prompt === undefined)) {
    throw new EngineError('option/prompt', {
      message: `trace: expected either --ask or --prompt, found ${ask === undefined ? 'neither' : 'both'}.`,
      hint: '--ask goes through the chat template; --prompt is the raw text, <image> stands for the picture.',
    })
  }
  const terminal = new Terminal(context, options)
  await checkTarget(out)
  const [image] = await findPictures(options.image === undefined ? [] : [options.image], context.stdin)
  return withModel(context, terminal, { model: reference, ...loadOptionsOf(options) }, async (model) => {
    const running = model.trace({
      ...(ask !== undefined && { ask }),
      ...(prompt !== undefined && { prompt }),
      ...(image !== undefined && { image }),
      detail: options.detail,
      greedyTokens: options.greedy,
    })
    const tensors = (await untilAborted(running, context.interrupts.signal)).map(encodeTensor)
    await replaceFile(out, writeSafetensors(tensors, { format: 'pt' }))
    terminal.report([...tableOf(tensors), `→ ${out}`])
    return EXIT.done
  })
}

function encodeTensor({ name, shape, data }: TraceTensor): SafetensorsTensor {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return { name, type: data instanceof Int32Array ? 'I32' : 'F32', shape, data: bytes }
}

function tableOf(tensors: readonly SafetensorsTensor[]): string[] {
  const width = Math.max(...tensors.map(({ name }) => name.length))
  return tensors.map(({ name, type, shape }) => `${name.padEnd(width)}  ${type}  [${shape.join(', ')}]`)
}

/** Found before the model is loaded, not after. What is no file must not be replaced by one: /dev/null, a named pipe. */
async function checkTarget(path: string): Promise<void> {
  if (path === STDIN_NAME) {
    throw new EngineError('option/out', {
      message: `--out ${path}: expected a file name; a trace does not go to standard output.`,
    })
  }
  const folder = dirname(path)
  const [target, parent] = await Promise.all([
    stat(path).catch(() => undefined),
    stat(folder).catch(() => undefined),
  ])
  if (target?.isDirectory()) {
    throw new EngineError('option/out', { message: `--out ${path}: expected a file name, found a folder.` })
  }
  if (target && !target.isFile()) {
    throw new EngineError('option/out', {
      message: `--out ${path}: expected a file name, found a device, pipe or socket.`,
    })
  }
  if (!parent?.isDirectory()) {
    throw new EngineError('option/out', {
      message: `--out ${path}: the folder ${folder} does not exist.`,
      hint: 'Make the folder first.',
    })
  }
}

/** Under another name first, so that nobody ever finds half a file. */
async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  // A link stays, what it leads to is replaced.
  const target = await realpath(path).catch(() => path)
  const unfinished = `${target}.${randomUUID()}.part`
  try {
    await writeFile(unfinished, bytes)
    await rename(unfinished, target)
  } catch (cause) {
    await rm(unfinished, { force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('file/write-failed', {
      message: `${path}: writing ${bytes.byteLength} bytes failed (${reason}).`,
      hint: 'Check the free space and the permissions of the folder.',
      cause,
    })
  }
}
