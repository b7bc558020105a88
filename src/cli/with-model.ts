/** Loads the model that the options name, with progress, and gives it back afterwards. */
import type { LoadModelOptions, Model } from '../engine/types.ts'
import { isAbortError } from '../shared/abort.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode, exitCodeOf, type Phase } from './exit-codes.ts'
import { untilAborted } from './interrupts.ts'
import { linesOfPlan } from './memory-table.ts'
import type { Terminal } from './terminal.ts'

/** Name of the model that comes with the package. A folder of that name is `./tiny`. */
export const TINY = 'tiny'

export interface ModelRequest extends LoadModelOptions {
  /** Default: the bundled tiny model, with a note on what it knows. */
  readonly model?: string | undefined
}

/** The exit code is that of `use`, or tells what went wrong; errors are printed. */
export async function withModel(
  context: CommandContext,
  terminal: Terminal,
  { model: reference, ...options }: ModelRequest,
  use: (model: Model) => Promise<ExitCode>,
): Promise<ExitCode> {
  let model: Model
  try {
    const { loadModel, bundledModelPath } = await context.loadEngine()
    if (reference === undefined) {
      terminal.note(terminal.messages.tinyModel)
      terminal.note(terminal.messages.realModel)
    }
    const { signal } = context.interrupts
    const path = reference === undefined || reference === TINY ? bundledModelPath() : reference
    const onProgress: LoadModelOptions['onProgress'] = ({ loadedBytes, totalBytes }) =>
      terminal.progress.show(terminal.messages.loading, loadedBytes, totalBytes)
    const onMemoryPlan: LoadModelOptions['onMemoryPlan'] = (plan) => {
      for (const line of linesOfPlan(plan, terminal.messages)) terminal.note(line)
    }
    const loading = loadModel(path, {
      ...options,
      signal,
      onProgress,
      ...(options.memoryLimit !== undefined && { onMemoryPlan }),
    })
    model = await untilAborted(loading, signal)
  } catch (error) {
    return failureOf(context, terminal, error, 'loading')
  }
  terminal.progress.clear()
  for (const warning of model.info.warnings) terminal.note(warning)
  try {
    return await use(model)
  } catch (error) {
    return failureOf(context, terminal, error, 'running')
  } finally {
    await model.dispose()
  }
}

/** Prints what went wrong, unless somebody interrupted, and says what to exit with. */
export function failureOf(
  { interrupts }: CommandContext,
  terminal: Terminal,
  error: unknown,
  phase: Phase = 'running',
): ExitCode {
  terminal.progress.clear()
  if (interrupts.exitCode !== undefined && isAbortError(error)) return interrupts.exitCode
  terminal.error(error)
  return isAbortError(error) ? EXIT.failed : exitCodeOf(error, phase)
}
