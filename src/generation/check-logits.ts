import { EngineError } from '../shared/errors.ts'

/** Whatever is chosen from numbers that are none would look like an answer, so it ends here. */
export function checkLogits(logits: Float32Array, position: number): void {
  let broken = 0
  for (const value of logits) if (!Number.isFinite(value)) broken++
  if (broken === 0) return
  throw new EngineError('model/not-a-number', {
    message: `After ${position} tokens ${broken} of the ${logits.length} logits are infinite or not a number (NaN); no answer can be chosen from them.`,
    hint: 'The weights are damaged, or too large for this precision: fetch them again, or try --precision f32. A trace shows the first layer that fails.',
  })
}
