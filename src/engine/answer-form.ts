/** Answers of a given form: by a JSON Schema, or one of a few texts. Loaded when first asked for. */
import { type CompiledSchema, compileSchema, SchemaConstraint } from '../constraint/schema-constraint.ts'
import { WordWalks } from '../constraint/token-masks.ts'
import { type TokenBytes, TokenTrie } from '../constraint/token-trie.ts'
import { createAnswerDecoder, dropsFirstSpace } from '../generation/answer-decoder.ts'
import { type GenerateEvent, type GenerateRequest, generate } from '../generation/generate.ts'
import { type AnswerChoice, type ScoreChoicesRequest, scoreChoices } from '../generation/score-choices.ts'
import { EngineError } from '../shared/errors.ts'
import { createNeutralizer } from '../text/neutralize.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { LoadedModel } from './loaded-model.ts'
import type { GenerationOptions, JsonSchema } from './types.ts'

/** Makes the answer to a prompt. */
export type AnswerForm = (request: GenerateRequest) => AsyncGenerator<GenerateEvent, void, undefined>

/** Throws `option/schema` and `option/invalid`. */
export function createAnswerForm(
  loaded: LoadedModel,
  { responseSchema, choices }: Pick<GenerationOptions, 'responseSchema' | 'choices'>,
): AnswerForm {
  if (choices) return (request) => scoreChoices(choicesRequest(request, choices))
  const schema = compileOnce(responseSchema as JsonSchema)
  const { vocabulary, walks } = vocabularyOf(loaded)
  return (request) => {
    const { tokenizer, prompt, stopTokens, isContinuation } = request
    const allowsSpace = dropsFirstSpace(tokenizer, prompt, isContinuation)
    const constraint = new SchemaConstraint(schema, { vocabulary, walks, stopTokens, allowsSpace })
    return generate({ ...request, constraint })
  }
}

/** Schemas that are kept compiled: servers are sent the same few again and again. */
const MAX_COMPILED = 16
const compiled = new Map<string, CompiledSchema>()

function compileOnce(schema: JsonSchema): CompiledSchema {
  const key = keyOf(schema)
  const known = key === undefined ? undefined : compiled.get(key)
  const result = known ?? compileSchema(schema)
  if (key === undefined) return result
  compiled.delete(key)
  compiled.set(key, result)
  for (const oldest of compiled.keys()) {
    if (compiled.size <= MAX_COMPILED) break
    compiled.delete(oldest)
  }
  return result
}

function keyOf(schema: JsonSchema): string | undefined {
  try {
    return JSON.stringify(schema)
  } catch {
    return undefined // the compiler says what is wrong with it
  }
}

interface Vocabulary {
  readonly vocabulary: TokenBytes
  readonly walks: WordWalks
}

const vocabularies = new WeakMap<Tokenizer, Vocabulary>()

function vocabularyOf({ text: { tokenizer, stopTokens } }: LoadedModel): Vocabulary {
  let known = vocabularies.get(tokenizer)
  if (!known) {
    const vocabulary = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
      stopTokens.has(id) ? undefined : tokenizer.tokenBytes(id),
    )
    known = { vocabulary, walks: new WordWalks(new TokenTrie(vocabulary)) }
    vocabularies.set(tokenizer, known)
  }
  return known
}

function choicesRequest(request: GenerateRequest, texts: readonly string[]): ScoreChoicesRequest {
  const { session, prompt, stopTokens, contextLength, isContinuation, options } = request
  const choices = texts.map((text) => spellChoice(request, text))
  const longest = Math.max(...choices.flatMap(({ spellings }) => spellings.map(({ length }) => length)))
  if (prompt.ids.length + longest > contextLength) {
    throw new EngineError('generation/context-full', {
      message: `The prompt has ${prompt.ids.length} tokens and the longest choice ${longest}, but the model holds ${contextLength}.`,
      hint: 'Shorten the choices, or start a new conversation.',
    })
  }
  // A text that goes on need not end behind the choice.
  return { session, prompt, choices, stopTokens: isContinuation ? new Set() : stopTokens, options }
}

/** As the tokenizer writes it, with and without the space that belongs to the prompt. */
function spellChoice({ tokenizer, prompt, isContinuation }: GenerateRequest, text: string): AnswerChoice {
  const neutralize = createNeutralizer(tokenizer.specialTokens)
  const spaces = dropsFirstSpace(tokenizer, prompt, isContinuation) ? [' ', ''] : ['']
  const spellings = new Map<string, readonly number[]>()
  for (const space of spaces) {
    const ids = tokenizer.encode(space + neutralize(text), { neutralized: true })
    const decoder = createAnswerDecoder(tokenizer, prompt, isContinuation)
    const decoded = ids.map((id) => decoder.push(id)).join('') + decoder.flush()
    if (decoded === text) spellings.set(ids.join(), ids)
  }
  if (spellings.size > 0) return { text, spellings: [...spellings.values()] }
  throw new EngineError('option/invalid', {
    message: `The choice ${JSON.stringify(text)} cannot be written with the vocabulary of this model.`,
  })
}
