/** `onsight convert`: a model to GGUF, in the types of a recipe. */
import type { ConvertOptions, ConvertProgress, ConvertReport } from '../engine/convert-model.ts'
import { isAbortError } from '../shared/abort.ts'
import type { CommandContext } from './context.ts'
import { type ConvertMessages, convertMessagesFor } from './convert-messages.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { formatBytes, formatSeconds } from './quantities.ts'
import { loadCalibrationFolder } from './question-files.ts'
import { loadRecipe } from './recipe-files.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { TransferMeter } from './transfer-meter.ts'
import { failureOf, TINY } from './with-model.ts'

export interface ConvertCommandOptions extends TerminalOptions {
  readonly recipe: string
  readonly mmproj?: string
  readonly calibrate?: string
  readonly targetLoss?: number
  readonly force?: boolean
  readonly threads?: number
  readonly json?: boolean
}

export async function runConvert(
  source: string,
  target: string,
  { recipe, mmproj, calibrate, targetLoss, force, threads, json, ...options }: ConvertCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = convertMessagesFor(context.env)
  const progress = new ConversionProgress(terminal, messages)
  try {
    const request: ConvertOptions = {
      recipe: await loadRecipe(recipe),
      ...(mmproj !== undefined && { projector: mmproj }),
      ...(calibrate !== undefined && { calibration: await loadCalibrationFolder(calibrate) }),
      ...(targetLoss !== undefined && { targetLoss }),
      ...(threads !== undefined && { threads }),
      force: force ?? false,
      signal: context.interrupts.signal,
      onProgress: (step) => progress.show(step),
    }
    const { convertModel } = await import('../entry/convert.node.ts')
    const path = source === TINY ? (await context.loadEngine()).bundledModelPath() : source
    const report = await convertModel(path, target, request)
    terminal.progress.clear()
    if (json) terminal.json(report)
    else terminal.answer(`${describeReport(report).join('\n')}\n`)
    for (const note of report.notes) terminal.note(note)
    return EXIT.done
  } catch (error) {
    const exitCode = failureOf(context, terminal, error, 'loading')
    if (isAbortError(error)) terminal.note(messages.stopped)
    return exitCode
  }
}

/** Files, then how many matrices of which type, then what is not as the recipe wants it. */
function describeReport({
  recipe,
  files,
  tensors,
  sourceBytes,
  byteLength,
  loss,
  upgraded,
}: ConvertReport): string[] {
  const types = new Map<string, number>()
  for (const { to } of tensors) types.set(to, (types.get(to) ?? 0) + 1)
  const ratio = `${((100 * byteLength) / sourceBytes).toFixed(1)}%`
  return [
    ...files.map((file) => `${file.path}  ${formatBytes(file.byteLength)}`),
    `recipe ${recipe}: ${[...types].map(([type, count]) => `${count} ${type}`).join(', ')}; ${ratio} of the source's ${formatBytes(sourceBytes)}`,
    ...groupReasons(tensors),
    ...(upgraded > 0 ? [`${upgraded} sensitive matrices got six bits`] : []),
    ...(loss
      ? [
          `loss on calibration answers held out: mean KL ${loss.meanKl.toPrecision(3)} nats, ${(100 * loss.sameTop).toFixed(1)}% same likeliest token (${loss.positions} tokens)`,
        ]
      : []),
  ]
}

/** One line for all tensors that fell back alike. */
function groupReasons(tensors: ConvertReport['tensors']): string[] {
  const groups = new Map<string, string[]>()
  for (const { name, to, reason } of tensors) {
    if (reason === undefined || reason === 'sensitive') continue
    const key = `${to}: ${reason}`
    groups.set(key, [...(groups.get(key) ?? []), name])
  }
  return [...groups].map(
    ([key, [first = '', ...more]]) => `${first}${more.length > 0 ? ` and ${more.length} more` : ''} → ${key}`,
  )
}

class ConversionProgress {
  readonly #terminal: Terminal
  readonly #messages: ConvertMessages
  #meter = new TransferMeter()
  #step: ConvertProgress['step'] | undefined

  constructor(terminal: Terminal, messages: ConvertMessages) {
    this.#terminal = terminal
    this.#messages = messages
  }

  show({ step, done, total }: ConvertProgress): void {
    if (step !== this.#step) this.#meter = new TransferMeter()
    this.#step = step
    const { bytesPerSecond, secondsLeft } = this.#meter.measure(done, total)
    const details = [
      ...(step === 'writing' && bytesPerSecond !== undefined ? [`${formatBytes(bytesPerSecond)}/s`] : []),
      ...(secondsLeft === undefined ? [] : [this.#messages.left(formatSeconds(secondsLeft))]),
    ]
    this.#terminal.progress.show(this.#messages[step], done, total, details.join(', '))
  }
}
