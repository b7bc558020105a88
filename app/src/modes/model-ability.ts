/**
 * How much can be asked of a model. Small models do worse with every sentence that is added to a question, and the bundled
 * one knows only the questions that it was trained on.
 */
import type { ModelInfo } from 'onsight'

/**
 * - `trained-questions`: the bundled model.
 * - `short-instructions`: below a billion parameters; one plain instruction, in English unless the model knows more.
 * - `instructions`: larger models and remote ones.
 */
export type ModelAbility = 'trained-questions' | 'short-instructions' | 'instructions'

/** What is looked at of a model. Undefined: a remote one. */
export type KnownModel = Pick<ModelInfo, 'name' | 'architecture' | 'fileBytes'> | undefined

/** The bundled model has 19 MB; the smallest published one that sees has over 150 MB in any precision. */
const TRAINED_QUESTIONS_BYTES = 60e6
/** A billion parameters in 16 bits; fewer bytes may hold more of them, for which short questions do no harm. */
const SHORT_INSTRUCTIONS_BYTES = 2e9
/** Families whose text model was trained on Chinese. */
const KNOWS_CHINESE = /qwen|fastvlm|minicpm|internvl|deepseek|glm|^tiny$/i

export function abilityOf(model: KnownModel): ModelAbility {
  if (!model) return 'instructions'
  if (model.fileBytes < TRAINED_QUESTIONS_BYTES) return 'trained-questions'
  return model.fileBytes < SHORT_INSTRUCTIONS_BYTES ? 'short-instructions' : 'instructions'
}

export function knowsChinese(model: KnownModel): boolean {
  if (!model || abilityOf(model) === 'trained-questions') return true
  return KNOWS_CHINESE.test(model.name) || KNOWS_CHINESE.test(model.architecture)
}
