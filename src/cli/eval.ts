/** `onsight eval`: accuracy, size and loss of several recipes on one set of questions, as a table. */
import { basename } from 'node:path'
import type { EvalOptions, EvalReport, Variant } from '../eval/run-eval.ts'
import type { VariantSummary } from '../eval/summary.ts'
import { isAbortError } from '../shared/abort.ts'
import type { CommandContext } from './context.ts'
import { convertMessagesFor } from './convert-messages.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { findFile } from './pictures.ts'
import { formatBytes, formatSeconds } from './quantities.ts'
import { bundledSetPath, loadCalibrationFolder, loadQuestionFile } from './question-files.ts'
import { loadRecipe } from './recipe-files.ts'
import { openResultFile } from './result-file.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { TransferMeter } from './transfer-meter.ts'
import { failureOf, TINY } from './with-model.ts'

export interface EvalCommandOptions extends TerminalOptions {
  readonly set?: string
  readonly recipes: string
  readonly mmproj?: string
  readonly calibrate?: string
  readonly resume?: string
  readonly maxTokens?: number
  readonly imageTokens?: readonly number[]
  readonly threads?: number
  readonly json?: boolean
}

export async function runEvalCommand(
  reference: string,
  {
    set,
    recipes,
    mmproj,
    calibrate,
    resume,
    maxTokens,
    imageTokens = [],
    threads,
    json,
    ...options
  }: EvalCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = convertMessagesFor(context.env)
  let meter = new TransferMeter()
  let asked = ''
  try {
    const { items, name, resolvePicture } = await loadQuestionFile(set ?? bundledSetPath(), true)
    const variants = await Promise.all(recipes.split(',').map((text) => parseVariant(text.trim())))
    const request: EvalOptions = {
      items,
      setName: name,
      resolvePicture,
      variants: variants.flatMap((variant) => [
        variant,
        ...imageTokens.map((count) => ({ ...variant, name: `${variant.name} ${count}`, imageTokens: count })),
      ]),
      ...(mmproj !== undefined && { projector: mmproj }),
      ...(calibrate !== undefined && { calibration: await loadCalibrationFolder(calibrate) }),
      ...(resume !== undefined && { results: await openResultFile(resume) }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(threads !== undefined && { threads }),
      signal: context.interrupts.signal,
      onProgress({ variant, done, total }) {
        if (variant !== asked) meter = new TransferMeter()
        asked = variant
        const { secondsLeft } = meter.measure(done, total)
        const left = secondsLeft === undefined ? '' : messages.left(formatSeconds(secondsLeft))
        terminal.progress.show(messages.evaluating(variant), done, total, left)
      },
    }
    const { evaluateModel } = await import('../entry/convert.node.ts')
    const path = reference === TINY ? (await context.loadEngine()).bundledModelPath() : reference
    const report = await evaluateModel(path, request)
    terminal.progress.clear()
    if (json) terminal.json(report)
    else terminal.answer(`${tableOf(report).join('\n')}\n`)
    return EXIT.done
  } catch (error) {
    const exitCode = failureOf(context, terminal, error, 'loading')
    if (isAbortError(error) && resume !== undefined) terminal.note(messages.resumable(resume))
    return exitCode
  }
}

/** A recipe, or a file that was converted before. */
async function parseVariant(text: string): Promise<Variant> {
  if (text.endsWith('.gguf')) return { name: basename(text, '.gguf'), path: await findFile(text) }
  const recipe = await loadRecipe(text)
  return { name: recipe.name, recipe }
}

const HEADINGS = [
  'recipe',
  'size',
  'ratio',
  'exact',
  'normalised',
  'ANLS',
  'loss',
  '95% interval',
  'mean KL',
  'same top',
]

function tableOf({ model, set, questions, baseline, variants }: EvalReport): string[] {
  const rows = [HEADINGS, ...variants.map(rowOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
  return [
    `${model}, ${questions} questions of ${set}`,
    ...lines,
    `size and loss (points of exact match) against ${baseline}; KL and same top against full precision`,
  ]
}

function rowOf({ name, byteLength, sizeRatio, loss, ...summary }: VariantSummary): string[] {
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`
  const points = (value: number): string => `${value < 0 ? '−' : ''}${Math.abs(value).toFixed(1)}`
  return [
    name,
    formatBytes(byteLength),
    sizeRatio.toFixed(3),
    percent(summary.exact),
    percent(summary.normalized),
    percent(summary.anls),
    loss ? points(loss.points) : '',
    loss ? `${points(loss.low)} to ${points(loss.high)}` : '',
    summary.meanKl.toFixed(5),
    percent(summary.sameTop),
  ]
}
