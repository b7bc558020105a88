import { describe, expect, it } from 'vitest'
import { parseGenerationConfig } from './model-text.ts'

describe('defaults of an answer from generation_config.json', () => {
  it('sampling counts only where the file says that it samples', () => {
    const values = { temperature: 0.6, top_k: 20, top_p: 0.9, min_p: 0.1 }
    expect(parseGenerationConfig(values)).toEqual({})
    expect(parseGenerationConfig({ ...values, do_sample: true })).toEqual({
      temperature: 0.6,
      topK: 20,
      topP: 0.9,
      minP: 0.1,
    })
  })

  it('has the reference’s defaults for what a sampling file leaves out', () => {
    expect(parseGenerationConfig({ do_sample: true })).toEqual({ temperature: 1, topK: 50, topP: 1, minP: 0 })
  })

  it('has them also for values that cannot be', () => {
    const values = { temperature: -1, top_k: 2.5, top_p: 0, min_p: '0.1', do_sample: true }
    expect(parseGenerationConfig(values)).toEqual({ temperature: 1, topK: 50, topP: 1, minP: 0 })
  })

  it('takes length and repetition penalty always', () => {
    expect(parseGenerationConfig({ max_new_tokens: 256, repetition_penalty: 1.05 })).toEqual({
      maxTokens: 256,
      repetitionPenalty: 1.05,
    })
  })

  it.each([
    undefined,
    null,
    [],
    7,
    'text',
    { max_new_tokens: '9', repetition_penalty: -1 },
    { max_new_tokens: 0.5, repetition_penalty: 1e9 },
  ])('passes over %j', (value) => {
    expect(parseGenerationConfig(value)).toEqual({})
  })
})
