/** Loads the recogniser that the options name, with progress, and gives it back afterwards. */
import { EngineError } from '../shared/errors.ts'
import type { LoadRecognizerOptions } from '../speech/load-recognizer.ts'
import type { Recognizer } from '../speech/types.ts'
import type { CommandContext } from './context.ts'
import type { ExitCode } from './exit-codes.ts'
import { untilAborted } from './interrupts.ts'
import type { Terminal } from './terminal.ts'
import { failureOf } from './with-model.ts'

export interface RecognizerRequest extends LoadRecognizerOptions {
  /** Default: the first of `DEFAULTS` that was pulled. */
  readonly model?: string | undefined
}

/** Names of the catalogue, in the order in which they are looked for. */
const DEFAULTS = [
  'whisper-base',
  'whisper-small',
  'whisper-tiny',
  'whisper-base.en',
  'whisper-small.en',
  'whisper-tiny.en',
]

/** The exit code is that of `use`, or tells what went wrong; errors are printed. */
export async function withRecognizer(
  context: CommandContext,
  terminal: Terminal,
  { model, ...options }: RecognizerRequest,
  use: (recognizer: Recognizer) => Promise<ExitCode>,
): Promise<ExitCode> {
  let recognizer: Recognizer
  try {
    const { loadRecognizer } = await context.loadSpeech()
    const { signal } = context.interrupts
    const onProgress: LoadRecognizerOptions['onProgress'] = ({ loadedBytes, totalBytes }) =>
      terminal.progress.show(terminal.messages.loading, loadedBytes, totalBytes)
    const reference = model ?? (await findDefault(context))
    recognizer = await untilAborted(loadRecognizer(reference, { ...options, signal, onProgress }), signal)
  } catch (error) {
    return failureOf(context, terminal, error, 'loading')
  }
  terminal.progress.clear()
  try {
    return await use(recognizer)
  } catch (error) {
    return failureOf(context, terminal, error, 'running')
  } finally {
    await recognizer.dispose()
  }
}

async function findDefault({ env }: CommandContext): Promise<string> {
  const { openModelHub } = await import('../entry/hub.node.ts')
  const hub = await openModelHub({ env })
  for (const name of DEFAULTS) if (await hub.find(name)) return name
  throw new EngineError('hub/not-stored', {
    message: 'There is no model that recognises speech on this machine.',
    hint: 'onsight pull whisper-base fetches one (290 MB), or name one with --model FOLDER or --model ggml-base.bin.',
  })
}
