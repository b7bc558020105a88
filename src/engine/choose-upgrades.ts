/**
 * Which matrices deserve six bits: those whose upgrade takes the most measured loss away for its bytes, as many as a
 * target needs.
 */
import type { PlannedTensor } from '../convert/plan-tensors.ts'
import { bitsPerWeight } from '../convert/plan-tensors.ts'
import { TENSOR_TYPES, type TensorType } from '../quant/tensor-types.ts'

/** What is tried out: `apply` puts planned tensors on the device, `measure` tells the loss of what lies there. */
export interface TrialModel {
  apply(tensors: readonly PlannedTensor[]): Promise<void>
  /** Mean KL divergence per answer token, in nats. */
  measure(): Promise<number>
}

/** Each measurement answers all lessons once, so neighbouring layers of large models are tried together. */
const MAX_GROUPS = 64

export interface Upgrades {
  readonly tensors: readonly PlannedTensor[]
  /** Measured with all of `tensors`. */
  readonly loss: number
  readonly upgraded: number
}

/**
 * @param tensors On the device when this begins, and again changed as chosen when it ends.
 * @param onStep Called after each measurement.
 */
export async function chooseUpgrades(
  model: TrialModel,
  tensors: readonly PlannedTensor[],
  targetLoss: number,
  onStep?: (done: number, total: number) => void,
): Promise<Upgrades> {
  const before = await model.measure()
  if (before <= targetLoss) return { tensors, loss: before, upgraded: 0 }
  const groups = groupCandidates(tensors)
  const searches = Math.ceil(Math.log2(groups.length + 1)) + 1
  const total = groups.length + searches
  const ranked: { group: readonly PlannedTensor[]; gain: number }[] = []
  for (const [index, group] of groups.entries()) {
    await model.apply(group.map(upgrade))
    const gained = before - (await model.measure())
    await model.apply(group)
    ranked.push({ group, gain: gained / addedBits(group) })
    onStep?.(index + 1, total)
  }
  ranked.sort((a, b) => b.gain - a.gain)

  // The fewest of the ranked groups that reach the target; loss falls with their number but for small noise.
  let done = groups.length
  let applied = 0
  const lossWith = async (count: number): Promise<number> => {
    const changed = ranked
      .slice(Math.min(count, applied), Math.max(count, applied))
      .flatMap(({ group }) => group)
    await model.apply(count > applied ? changed.map(upgrade) : changed)
    applied = count
    onStep?.(Math.min(++done, total), total)
    return model.measure()
  }
  let most = ranked.length
  let loss = await lossWith(most)
  if (loss <= targetLoss) {
    let least = 1
    while (least < most) {
      const middle = Math.floor((least + most) / 2)
      const found = await lossWith(middle)
      if (found <= targetLoss) {
        most = middle
        loss = found
      } else least = middle + 1
    }
    if (applied !== most) loss = await lossWith(most)
  }
  const chosen = new Set(ranked.slice(0, most).flatMap(({ group }) => group))
  return {
    tensors: tensors.map((tensor) => (chosen.has(tensor) ? upgrade(tensor) : tensor)),
    loss,
    upgraded: chosen.size,
  }
}

/** Matrices below six bits; of large models the same matrix of neighbouring layers together. */
function groupCandidates(tensors: readonly PlannedTensor[]): PlannedTensor[][] {
  const candidates = tensors.filter((tensor) => {
    const { blockLength } = TENSOR_TYPES[tensor.type]
    return blockLength > 1 && bitsPerWeight(tensor.type) < bitsPerWeight(upgradedType(tensor))
  })
  const size = Math.ceil(candidates.length / MAX_GROUPS)
  const groups = new Map<string, PlannedTensor[]>()
  for (const tensor of candidates) {
    const { name } = tensor.source
    const layer = Number(/\.(\d+)\./.exec(name)?.[1] ?? 0)
    const key = name.replace(/\.\d+\./, `.${Math.floor(layer / size)}+.`)
    groups.set(key, [...(groups.get(key) ?? []), tensor])
  }
  return [...groups.values()]
}

function upgrade(tensor: PlannedTensor): PlannedTensor {
  return { source: tensor.source, type: upgradedType(tensor), reason: 'sensitive' }
}

function upgradedType({ source }: PlannedTensor): TensorType {
  const columns = source.shape.at(-1) ?? 1
  return columns % TENSOR_TYPES.Q6_K.blockLength === 0 ? 'Q6_K' : 'Q5_1'
}

function addedBits(group: readonly PlannedTensor[]): number {
  return group.reduce((sum, tensor) => {
    const elements = tensor.source.shape.reduce((product, size) => product * size, 1)
    return sum + elements * (bitsPerWeight(upgradedType(tensor)) - bitsPerWeight(tensor.type))
  }, 0)
}
