/** Whatever a model wants to say, an answer that ends by itself satisfies its schema. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../generation/random.ts'
import { EngineError } from '../shared/errors.ts'
import { SchemaMaker } from './random-schema.case.ts'
import { type CompiledSchema, compileSchema, SchemaConstraint } from './schema-constraint.ts'
import { drawAnswer, readVocabulary } from './test-vocabulary.case.ts'

const VOCABULARIES = [
  ['smollm', '<|endoftext|>'],
  ['sentence-piece', '</s>'],
] as const
const SCHEMAS = 120
const ANSWERS = 3
/** Evenly drawn tokens hardly ever close a text. */
const MAX_TOKENS = 1500
const LEAST_SHARE = 0.9

function compile(schema: unknown): CompiledSchema | undefined {
  try {
    return compileSchema(schema)
  } catch (error) {
    if (EngineError.isInstance(error) && error.message.includes('has no value')) return undefined
    throw error
  }
}

describe.each(VOCABULARIES)('%s', (name, stop) => {
  it('hundreds of answers, drawn from logits that know nothing', () => {
    const vocabulary = readVocabulary(name, stop)
    let answers = 0
    let stopped = 0
    for (let seed = 0; seed < SCHEMAS; seed++) {
      const random = createRandom(seed)
      const schema = new SchemaMaker(random).make(3)
      const compiled = compile(schema)
      if (!compiled) continue
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      addFormats.default(ajv)
      const validate = ajv.compile(schema)
      for (let answer = 0; answer < ANSWERS; answer++) {
        const constraint = new SchemaConstraint(compiled, { ...vocabulary, allowsSpace: answer % 2 === 0 })
        const { text, reason } = drawAnswer(constraint, vocabulary, random, MAX_TOKENS)
        answers++
        if (reason === 'length') continue
        stopped++
        const isValid = validate(JSON.parse(text))
        expect(isValid, `${JSON.stringify(schema)}\n${text}\n${ajv.errorsText(validate.errors)}`).toBe(true)
      }
    }
    expect(answers).toBeGreaterThan(300)
    expect(stopped / answers).toBeGreaterThan(LEAST_SHARE)
  })
})
