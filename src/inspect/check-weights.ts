/** Reads weights within a budget and looks at their values and their training. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { checkTraining, chosenMatrices } from './check-training.ts'
import { checkValues, type Probed } from './check-values.ts'
import type { Findings } from './finding.ts'
import { canProbe, GrowingProbe, probeTensor } from './probe-tensor.ts'
import { chooseBudget, isWhole } from './read-budget.ts'

export interface WeightsRead {
  /** Of weights that were looked at. */
  readonly bytes: number
  readonly isWhole: boolean
  /** Single rows may be read, wherever they lie. */
  readonly isLocal: boolean
}

export const NOTHING_READ: WeightsRead = { bytes: 0, isWhole: false, isLocal: false }

export interface WeightOptions {
  readonly deep?: boolean
  readonly sparing?: boolean
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

export async function checkWeights(
  { name, tensors }: { readonly name: string; readonly tensors: ReadonlyMap<string, TensorInfo> },
  options: WeightOptions,
  findings: Findings,
): Promise<WeightsRead> {
  const weightBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const budget = chooseBudget(weightBytes, options)
  const chosen = budget.isSparing ? chosenMatrices(tensors, budget) : tensors
  const looked = new Map([...chosen].filter(([, tensor]) => canProbe(tensor)))
  const steps = looked.size * 2
  let done = 0
  const onProgress = (): void => {
    throwIfAborted(options.signal)
    options.onProgress?.(Math.min(++done, steps), steps)
  }
  const probed = new Map<string, Probed & { readonly probe: GrowingProbe }>()
  for (const [key, tensor] of looked) {
    if (budget.isSparing) {
      // Values are looked at while matrices are measured: nothing is fetched twice.
      probed.set(key, { tensor, probe: new GrowingProbe(tensor.type) })
      continue
    }
    onProgress()
    const probe = await probeTensor(tensor, budget.probeBytes, budget.sample.places)
    probed.set(key, { tensor, probe })
  }
  let sampled = 0
  const onBytes = ({ name: key }: TensorInfo, bytes: Uint8Array): void => {
    sampled += bytes.byteLength
    if (budget.isSparing) probed.get(key)?.probe.add(bytes)
  }
  await checkTraining(looked, probed, { budget, onBytes, onProgress }, findings)
  const all = [...probed.values()].filter(({ probe }) => probe.elements > 0)
  checkValues(all, name, findings)
  const values = all.reduce((sum, { probe }) => sum + probe.bytesRead, 0)
  return {
    // Of a model that is read whole, and over a network, matrices are measured in bytes that count already.
    bytes: isWhole(budget) || budget.isSparing ? values : values + sampled,
    isWhole: isWhole(budget),
    isLocal: !budget.isSparing,
  }
}
