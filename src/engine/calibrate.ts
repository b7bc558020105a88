import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { decodeAsStored, type StatisticsOf } from '../convert/encode-tensor.ts'
import type { PlannedTensor } from '../convert/plan-tensors.ts'
import type { Recipe } from '../convert/recipe.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { PreparedModel } from './assemble-model.ts'
import { chooseUpgrades, type TrialModel } from './choose-upgrades.ts'
import type { ConvertOptions, ConvertReport } from './convert-model.ts'
import { FullPrecisionModel } from './full-precision.ts'
import type { EngineHost } from './load-model.ts'
import type { SetItem } from './question-set.ts'

/** Pictures and questions that a model is run on to see what its matrices are multiplied with. */
export interface Calibration {
  readonly items: readonly SetItem[]
  /** Turns a picture's name in the set into what is opened. */
  readonly resolvePicture: (name: string) => string
}

export interface CalibratedPlan {
  /** As planned, the sensitive ones upgraded. */
  readonly tensors: readonly PlannedTensor[]
  readonly statisticsOf: StatisticsOf
  readonly loss: NonNullable<ConvertReport['loss']>
  /** Matrices that got six bits. */
  readonly upgraded: number
}

/**
 * Runs a model in full precision over pictures and questions: sees what its matrices are multiplied with, gives six bits
 * to the sensitive ones where a target asks for it, and measures what the planned weights lose.
 *
 * @throws EngineError `option/target-loss` when the target is out of reach.
 */
export async function calibrate(
  host: EngineHost,
  prepared: PreparedModel,
  planned: readonly PlannedTensor[],
  recipe: Recipe,
  { items, resolvePicture }: Calibration,
  { threads, targetLoss, onProgress, signal }: ConvertOptions,
): Promise<CalibratedPlan> {
  const backend = await createWasmBackend(host.workers, threads === undefined ? {} : { threads })
  const model = await FullPrecisionModel.create(prepared, backend, host, items, {
    resolvePicture,
    onProgress: ({ loadedBytes, totalBytes }) =>
      onProgress?.({ step: 'loading', done: loadedBytes, total: totalBytes }),
    ...(signal && { signal }),
  })
  try {
    const lessons = model.lessonCount
    await model.observe((done) => onProgress?.({ step: 'calibrating', done, total: lessons }), signal)
    const statisticsOf: StatisticsOf = (name) => model.statisticsOf(name)
    const trial: TrialModel = {
      async apply(tensors) {
        for (const tensor of tensors) {
          throwIfAborted(signal)
          const { name, role } = tensor.source
          if (role === 'vector' || role === 'patch') continue
          await model.exchange(name, await decodeAsStored(tensor, { search: recipe.search, statisticsOf }))
        }
      },
      measure: async () => {
        const { klSum, positions } = await model.measure(signal)
        return klSum / positions
      },
    }
    await trial.apply(planned)
    const chosen =
      targetLoss === undefined
        ? { tensors: planned, upgraded: 0 }
        : await chooseUpgrades(trial, planned, targetLoss, (done, total) =>
            onProgress?.({ step: 'choosing', done, total }),
          )
    const { klSum, sameTop, positions } = await model.measure(signal)
    const loss = { meanKl: klSum / positions, sameTop: sameTop / positions, positions }
    if (targetLoss !== undefined && loss.meanKl > targetLoss) {
      throw new EngineError('option/target-loss', {
        message: `With six bits everywhere the loss is ${loss.meanKl.toPrecision(3)}, still above ${targetLoss}.`,
        hint: 'Take a recipe with more bits, or a higher target.',
      })
    }
    return { tensors: chosen.tensors, statisticsOf, loss, upgraded: chosen.upgraded }
  } finally {
    await model.dispose()
  }
}
