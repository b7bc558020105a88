/** Whatever a model wants to say, an answer that ends by itself satisfies its schema. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../generation/random.ts'
import { EngineError } from '../shared/errors.ts'
import { SchemaMaker } from './random-schema.case.ts'
import { compileSchema, SchemaConstraint } from './schema-constraint.ts'
import { drawAnswer, readVocabulary } from './test-vocabulary.case.ts'

const VOCABULARIES = [
  ['smollm', '<|endoftext|>'],
  ['sentence-piece', '</s>'],
] as const
const SCHEMAS = 300
const ANSWERS = 6
const MAX_TOKENS = 3000

describe.each(VOCABULARIES)('%s', (name, stop) => {
  const vocabulary = readVocabulary(name, stop)

  it('hundreds of schemas, several answers each', () => {
    const counts = { stop: 0, length: 0, impossible: 0 }
    for (let seed = 0; seed < SCHEMAS; seed++) {
      const random = createRandom(seed)
      const schema = new SchemaMaker(random).make(3)
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      addFormats.default(ajv)
      const validate = ajv.compile(schema)
      let compiled: ReturnType<typeof compileSchema>
      try {
        compiled = compileSchema(schema)
      } catch (error) {
        if (!EngineError.isInstance(error) || !error.message.includes('has no value')) {
          console.log(JSON.stringify(schema))
          throw error
        }
        counts.impossible++
        continue
      }
      for (let answer = 0; answer < ANSWERS; answer++) {
        const constraint = new SchemaConstraint(compiled, { ...vocabulary, allowsSpace: answer % 2 === 0 })
        const { text, reason } = drawAnswer(constraint, vocabulary, random, MAX_TOKENS)
        counts[reason]++
        if (reason === 'length') {
          console.log('LENGTH', JSON.stringify(schema).slice(0, 300), text.slice(0, 100))
          continue
        }
        const isValid = validate(JSON.parse(text))
        expect(isValid, `${JSON.stringify(schema)}\n${text}\n${ajv.errorsText(validate.errors)}`).toBe(true)
      }
    }
    console.log(counts)
  })
})
