/** Conversion from end to end: open, plan, calibrate, write both files, give them their names. */
import type { StatisticsOf } from '../convert/encode-tensor.ts'
import { checkRecipeTensors, type PlannedTensor, planTensors } from '../convert/plan-tensors.ts'
import { findRecipe, type Recipe } from '../convert/recipe.ts'
import type { SourceModel } from '../convert/source-model.ts'
import { type FilePlan, planFile, plannedByteLength, writeFile } from '../convert/write-file.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { PendingFile, PendingFileHost } from '../shared/pending-file.ts'
import { prepareModel } from './assemble-model.ts'
import { type Calibration, calibrate } from './calibrate.ts'
import { describeSource } from './describe-source.ts'
import type { EngineHost } from './load-model.ts'
import { openCheckpoint } from './open-checkpoint.ts'

export interface ConvertHost extends EngineHost {
  readonly output: PendingFileHost
}

export interface ConvertOptions {
  /** Default `mixed`. */
  readonly recipe?: Recipe
  /** The mmproj file of a GGUF model. Default: found beside the model by its content. */
  readonly projector?: string
  readonly calibration?: Calibration
  /** Largest mean KL divergence per answer token, in nats; sensitive matrices get six bits until it is met. */
  readonly targetLoss?: number
  /** Replace files that have the targets' names. Default false. */
  readonly force?: boolean
  /** Compute threads for calibration. Default: what suits the machine. */
  readonly threads?: number
  readonly onProgress?: (progress: ConvertProgress) => void
  readonly signal?: AbortSignal
}

export interface ConvertProgress {
  /** What is counted: bytes while loading and writing, runs over lessons between. */
  readonly step: 'loading' | 'calibrating' | 'choosing' | 'writing'
  readonly done: number
  readonly total: number
}

export interface ConvertedFile {
  readonly path: string
  readonly part: 'text' | 'projector'
  readonly byteLength: number
}

export interface ConvertedTensor {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly byteLength: number
  /** Why it is not the type that the recipe asks for. */
  readonly reason?: string
}

export interface ConvertReport {
  readonly recipe: string
  readonly files: readonly ConvertedFile[]
  readonly tensors: readonly ConvertedTensor[]
  /** Of the source's tensors. */
  readonly sourceBytes: number
  /** Of the files written. */
  readonly byteLength: number
  /** On the calibration answers held out, of the weights alone; undefined without calibration. */
  readonly loss?: { readonly meanKl: number; readonly sameTop: number; readonly positions: number }
  /** Matrices that got six bits for the target loss. */
  readonly upgraded: number
  readonly notes: readonly string[]
}

/**
 * Where the projector of a text model goes: beside it, with "mmproj-" before its name. The engine finds it there, and
 * llama.cpp takes it with `--mmproj`.
 */
export function projectorPath(textPath: string): string {
  return textPath.replace(/[^\\/]*$/, (name) => `mmproj-${name}`)
}

/**
 * Writes `source`, a folder or a GGUF model, to `target` and its projector to `projectorPath(target)`. Files appear
 * under their names when both are complete; nothing is left behind otherwise.
 *
 * @throws EngineError for a source that does not load, `option/recipe`, `option/target-loss`, `option/target-exists`,
 *   `file/disk-full`; an `AbortError` when the signal is aborted.
 */
export async function convertModelOn(
  host: ConvertHost,
  source: string,
  target: string,
  options: ConvertOptions = {},
): Promise<ConvertReport> {
  const { recipe = findRecipe('mixed'), calibration, targetLoss, signal } = options
  checkTarget(target)
  if (targetLoss !== undefined && calibration === undefined) {
    throw new EngineError('option/target-loss', {
      message: 'A target loss needs pictures and questions on which to measure it.',
      hint: 'Name a folder of them with --calibrate.',
    })
  }
  const opened = await openCheckpoint(host.files, source, options.projector)
  try {
    const prepared = await prepareModel(opened)
    const model = await describeSource(opened, prepared)
    const all = [...model.text.tensors, ...(model.projector?.tensors ?? [])]
    checkRecipeTensors(all, recipe)
    let plans = planModel(model, planTensors(all, recipe))
    await checkTargets(host.output, model, target, plans, options.force ?? false)
    let statisticsOf: StatisticsOf | undefined
    let loss: ConvertReport['loss']
    let upgraded = 0
    if (calibration) {
      const found = await calibrate(host, prepared, planTensors(all, recipe), recipe, calibration, options)
      plans = planModel(model, found.tensors)
      ;({ statisticsOf, loss, upgraded } = found)
      await checkTargets(host.output, model, target, plans, options.force ?? false)
    }
    throwIfAborted(signal)
    const files = await writeFiles(host.output, target, plans, {
      ...options,
      search: recipe.search,
      statisticsOf,
    })
    return {
      recipe: recipe.name,
      files,
      tensors: plans.flatMap(({ tensors }) => tensors.map(describeTensor)),
      sourceBytes: prepared.fileBytes,
      byteLength: files.reduce((sum, { byteLength }) => sum + byteLength, 0),
      ...(loss && { loss }),
      upgraded,
      notes: [...opened.warnings, ...model.notes],
    }
  } finally {
    await Promise.all(opened.sources.map((file) => file.close()))
  }
}

function describeTensor(tensor: PlannedTensor): ConvertedTensor {
  const { source, type, reason } = tensor
  return {
    name: source.name,
    from: source.info.type,
    to: type,
    byteLength: plannedByteLength(tensor),
    ...(reason !== undefined && { reason }),
  }
}

/** The text file's plan, then the projector's. */
function planModel(model: SourceModel, tensors: readonly PlannedTensor[]): FilePlan[] {
  const { text, projector } = model
  const count = text.tensors.length
  const plans = [planFile(text, tensors.slice(0, count))]
  if (projector) plans.push(planFile(projector, tensors.slice(count)))
  return plans
}

function checkTarget(target: string): void {
  if (/[^\\/]\.gguf$/.test(target)) return
  throw new EngineError('option/target', {
    message: `${target}: expected a file name that ends in .gguf.`,
    hint: 'onsight convert ./SmolVLM-500M-Instruct smolvlm-500m.gguf',
  })
}

function targetPaths(target: string, plans: readonly FilePlan[]): string[] {
  return plans.length > 1 ? [target, projectorPath(target)] : [target]
}

async function checkTargets(
  output: PendingFileHost,
  model: SourceModel,
  target: string,
  plans: readonly FilePlan[],
  force: boolean,
): Promise<void> {
  const needed = plans.reduce((sum, { byteLength }) => sum + byteLength, 0)
  for (const path of targetPaths(target, plans)) {
    const { exists, freeBytes } = await output.inspectTarget(path)
    if (exists && !force) {
      throw new EngineError('option/target-exists', {
        message: `${path} exists already.`,
        hint: 'Give another name, or replace it with --force.',
      })
    }
    if (freeBytes !== undefined && freeBytes < needed) {
      throw new EngineError('file/disk-full', {
        message: `${model.name} takes ${needed} bytes as planned, but only ${freeBytes} are free where ${path} goes.`,
        hint: 'Free some space, write to another disk, or take a smaller recipe.',
      })
    }
  }
}

interface WriteAllOptions extends Pick<ConvertOptions, 'onProgress' | 'signal'> {
  readonly search: boolean
  readonly statisticsOf: StatisticsOf | undefined
}

async function writeFiles(
  output: PendingFileHost,
  target: string,
  plans: readonly FilePlan[],
  { search, statisticsOf, onProgress, signal }: WriteAllOptions,
): Promise<ConvertedFile[]> {
  const paths = targetPaths(target, plans)
  const total = plans.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const files: PendingFile[] = []
  let done = 0
  try {
    for (const [index, plan] of plans.entries()) {
      const file = await output.createFile(paths[index] as string)
      files.push(file)
      await writeFile(file, plan, {
        search,
        statisticsOf,
        signal,
        onBytes(byteLength) {
          done += byteLength
          onProgress?.({ step: 'writing', done, total })
        },
      })
      await file.seal()
    }
    throwIfAborted(signal)
    // The projector first: a text model that seems blind would be the worse surprise.
    for (const file of files.toReversed()) await file.publish()
  } finally {
    await Promise.all(files.map((file) => file.discard()))
  }
  return plans.map(({ byteLength }, index) => ({
    path: paths[index] as string,
    part: index === 0 ? 'text' : 'projector',
    byteLength,
  }))
}
