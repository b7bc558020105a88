/** From a mode and what a person typed to what the model is asked. Pure. */
import type { Language } from '../texts/text-table.ts'
import { abilityOf, type KnownModel, knowsChinese, type ModelAbility } from './model-ability.ts'
import type { Mode } from './modes.ts'
import { BREVITY_WORDS, INSTRUCTIONS, TRAINED_QUESTIONS, UNCERTAINTY_WORDS } from './prompt-texts.ts'
import { findQuestionOf } from './thing-of-question.ts'

export type Brevity = 'short' | 'normal' | 'full'

export interface PromptRequest {
  readonly mode: Mode
  /** As typed or spoken; may be empty. */
  readonly question: string
  readonly brevity: Brevity
  /** Of the person. */
  readonly language: Language
  /** Undefined: a remote model. */
  readonly model: KnownModel
  /** What was said of the scene before, for `changed`. */
  readonly earlier?: string | undefined
}

/** Most tokens of an answer; the middle one is three sentences of usual length. */
const ANSWER_TOKENS: Readonly<Record<Brevity, number>> = { short: 48, normal: 128, full: 384 }

/** Most tokens of an answer. What is written must be read to its end, however short answers should be. */
export function answerTokens(mode: Mode, brevity: Brevity): number {
  return mode === 'read' ? ANSWER_TOKENS.full : ANSWER_TOKENS[brevity]
}

/** The language in which the model is asked, and most likely answers. */
export function promptLanguage({ language, model }: Pick<PromptRequest, 'language' | 'model'>): Language {
  return language === 'zh' && !knowsChinese(model) ? 'en' : language
}

export function promptFor(request: PromptRequest): string {
  const ability = abilityOf(request.model)
  const language = promptLanguage(request)
  const question = request.question.trim()
  if (ability === 'trained-questions') return trainedQuestion(request.mode, question, language)
  const task = taskOf(request, question, language, ability)
  if (ability === 'short-instructions') {
    const isLength = request.brevity !== 'normal' && request.mode !== 'read'
    return join(language, [task, isLength ? BREVITY_WORDS[request.brevity][language] : ''])
  }
  return join(language, [
    task,
    request.mode === 'read' ? '' : BREVITY_WORDS[request.brevity][language],
    UNCERTAINTY_WORDS[language],
  ])
}

/** It answers nothing else, so the words of its training are kept to the letter. */
function trainedQuestion(mode: Mode, question: string, language: Language): string {
  if (question === '') return TRAINED_QUESTIONS[mode][languageOfAnswer(question, language)]
  const spoken = languageOfAnswer(question, language)
  return mode === 'find' ? findQuestionOf(question, spoken).trained : question
}

function taskOf(
  { mode, earlier }: PromptRequest,
  question: string,
  language: Language,
  ability: Exclude<ModelAbility, 'trained-questions'>,
): string {
  if (mode === 'find' && question !== '') return findQuestionOf(question, language).instruction
  if (mode === 'changed' && ability === 'instructions' && earlier) {
    return INSTRUCTIONS.changedSince[language].replace('{earlier}', () => earlier)
  }
  const instruction = INSTRUCTIONS[mode][language]
  if (question === '') return instruction
  // A question of one's own is what is asked; the mode only says how to answer it.
  return mode === 'describe' || mode === 'changed' ? question : join(language, [question, instruction])
}

/** Chinese words are answered in Chinese by a model that knows both, whatever the language of the page. */
function languageOfAnswer(question: string, language: Language): Language {
  if (question === '') return language
  return /\p{Script=Han}/u.test(question) ? 'zh' : 'en'
}

function join(language: Language, parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(language === 'zh' ? '' : ' ')
}
