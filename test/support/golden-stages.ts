import { expect } from 'vitest'
import type { LoadedModel } from '../../src/engine/loaded-model.ts'
import { runTrace } from '../../src/engine/trace.ts'
import type { TraceTensor } from '../../src/engine/types.ts'
import { largestShare } from './compare.ts'
import type { GoldenRun } from './golden-model.ts'

/**
 * Largest difference from the reference, as a share of a stage's largest value. Float32 sums in another order differ
 * by about 1e-6 here; a wrong constant or a lost bit shows well above 1e-5.
 */
export const F32_SHARE = 1e-5

const EXACT = ['input_ids', 'pixel_values', 'greedy']

export type Stages = ReadonlyMap<string, TraceTensor>

/** Runs what a recorded run ran. */
export async function traceRun(loaded: LoadedModel, run: GoldenRun, greedyTokens = 64): Promise<Stages> {
  const input = run.picture ? { ask: run.prompt, image: run.picture } : { prompt: run.prompt }
  const tensors = await runTrace(loaded, { ...input, greedyTokens })
  return new Map(tensors.map((tensor) => [tensor.name, tensor]))
}

/** Every element of every stage: ids and pixels identical, the rest within `F32_SHARE`. */
export function expectStages(actual: Stages, run: GoldenRun): void {
  expect([...actual.keys()].sort()).toEqual([...run.stages.keys()].sort())
  for (const [name, expected] of run.stages) {
    const { shape, data } = actual.get(name)!
    expect(shape, `${run.name} ${name}`).toEqual(expected.shape)
    const share = largestShare(data, expected.data)
    if (EXACT.includes(name)) expect(share, `${run.name} ${name}`).toBe(0)
    else expect(share, `${run.name} ${name}`).toBeLessThan(F32_SHARE)
  }
}
