/** Structured answers, scores and embeddings over a socket, as the official client of OpenAI asks for them. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import OpenAI from 'openai'
import { LengthFinishReasonError } from 'openai/core/error'
import { makeParseableResponseFormat, makeParseableTextFormat } from 'openai/lib/parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledModelPath, loadModel, type Model } from '../../src/entry/index.node.ts'
import { type RunningServer, startServer } from '../../src/entry/server.ts'

let model: Model
let server: RunningServer
let client: OpenAI
beforeAll(async () => {
  model = await loadModel(bundledModelPath())
  server = await startServer({ models: { tiny: model }, port: 0 })
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any', maxRetries: 0 })
})
afterAll(async () => {
  await server.stop(0)
  await model.dispose()
})

/** As `zodResponseFormat` writes a schema: every property required, nothing else allowed, parts in `$defs`. */
const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    title: { type: 'string', description: 'A few words.', maxLength: 20 },
    steps: { type: 'array', items: { $ref: '#/definitions/step' }, minItems: 1, maxItems: 2 },
    mood: { anyOf: [{ type: 'string', enum: ['good', 'bad'] }, { type: 'null' }] },
    when: { type: 'string', format: 'date' },
  },
  required: ['title', 'steps', 'mood', 'when'],
  additionalProperties: false,
  definitions: {
    step: {
      type: 'object',
      properties: { count: { type: 'integer', minimum: 0, maximum: 9 }, done: { type: 'boolean' } },
      required: ['count', 'done'],
      additionalProperties: false,
    },
  },
}
const { $schema: _, ...VALIDATED } = SCHEMA
const validate = new Ajv2020({ validateFormats: false }).compile(VALIDATED)
const MESSAGES = [{ role: 'user' as const, content: 'Describe a day.' }]
const BASE = { model: 'tiny', temperature: 1, seed: 4 }

describe('structured answers', () => {
  const response_format = makeParseableResponseFormat(
    { type: 'json_schema', json_schema: { name: 'day', strict: true, schema: SCHEMA } },
    (content) => JSON.parse(content) as { steps: object[] },
  )

  it('are parsed by the client', async () => {
    const completion = await client.chat.completions.parse({ ...BASE, messages: MESSAGES, response_format })
    const { message, finish_reason } = completion.choices[0]!
    expect(finish_reason).toBe('stop')
    expect(validate(message.parsed), message.content!).toBe(true)
    expect(message.parsed!.steps.length).toBeGreaterThan(0)
  })

  it('are parsed from a stream', async () => {
    const stream = client.chat.completions.stream({ ...BASE, messages: MESSAGES, response_format })
    const completion = await stream.finalChatCompletion()
    expect(validate(completion.choices[0]!.message.parsed)).toBe(true)
    const whole = await client.chat.completions.parse({ ...BASE, messages: MESSAGES, response_format })
    expect(completion.choices[0]!.message.content).toBe(whole.choices[0]!.message.content)
  })

  it('that are cut are no answers to the client', async () => {
    const cut = client.chat.completions.parse({
      ...BASE,
      messages: MESSAGES,
      response_format,
      max_completion_tokens: 3,
    })
    await expect(cut).rejects.toBeInstanceOf(LengthFinishReasonError)
  })

  it('may be any object', async () => {
    const { choices } = await client.chat.completions.create({
      ...BASE,
      messages: [{ role: 'user', content: 'Say something in JSON.' }],
      response_format: { type: 'json_object' },
      max_completion_tokens: 400,
    })
    expect(choices[0]!.message.content).toMatch(/^\{/)
    if (choices[0]!.finish_reason === 'stop')
      expect(JSON.parse(choices[0]!.message.content!)).toBeTypeOf('object')
  })

  it('of responses are parsed too', async () => {
    const format = makeParseableTextFormat(
      { type: 'json_schema', name: 'day', strict: true, schema: SCHEMA },
      (content) => JSON.parse(content) as object,
    )
    const { seed, ...base } = BASE
    const response = await client.responses.parse({ ...base, input: 'Describe a day.', text: { format } })
    expect(validate(response.output_parsed), response.output_text).toBe(true)
    expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'day' })
  })

  it('by a schema that is not supported are refused, naming what', async () => {
    const schema = { type: 'object', properties: { x: { type: 'array', uniqueItems: true } } }
    const asked = client.chat.completions.create({
      ...BASE,
      messages: MESSAGES,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    await expect(asked).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_schema',
      param: 'response_format.json_schema.schema',
      message: expect.stringContaining('#/properties/x/uniqueItems is not supported.'),
    })
  })
})

describe('scores', () => {
  it('belong to the tokens of the text', async () => {
    const { choices } = await client.chat.completions.create({
      ...BASE,
      messages: MESSAGES,
      logprobs: true,
      top_logprobs: 4,
      max_completion_tokens: 12,
    })
    const content = choices[0]!.logprobs!.content!
    const text = Buffer.from(content.flatMap(({ bytes }) => bytes!)).toString()
    expect(text.trimStart()).toBe(choices[0]!.message.content)
    for (const { logprob, top_logprobs } of content) {
      expect(logprob).toBeLessThanOrEqual(top_logprobs[0]!.logprob)
      expect(top_logprobs.map((one) => one.logprob)).toEqual(
        top_logprobs.map((one) => one.logprob).sort((a, b) => b - a),
      )
      expect(top_logprobs.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeLessThanOrEqual(1 + 1e-9)
      expect(top_logprobs).toHaveLength(4)
    }
  })

  it('are put together from a stream', async () => {
    const request = {
      ...BASE,
      messages: MESSAGES,
      logprobs: true,
      top_logprobs: 1,
      max_completion_tokens: 12,
    }
    const streamed = await client.chat.completions.stream(request).finalChatCompletion()
    const whole = await client.chat.completions.create(request)
    // The second prompt is known already; what is computed in other passes differs in the last places.
    expect(streamed.choices[0]!.logprobs!.content).toEqual(
      whole.choices[0]!.logprobs!.content!.map(({ logprob, top_logprobs, ...token }) => ({
        ...token,
        logprob: expect.closeTo(logprob, 3),
        top_logprobs: top_logprobs.map((one) => ({ ...one, logprob: expect.closeTo(one.logprob, 3) })),
      })),
    )
  })

  it('of completions', async () => {
    const { choices } = await client.completions.create({
      ...BASE,
      prompt: 'A red',
      max_tokens: 6,
      logprobs: 2,
    })
    const { tokens, token_logprobs, top_logprobs, text_offset } = choices[0]!.logprobs!
    expect(tokens!.join('')).toBe(choices[0]!.text)
    expect(token_logprobs).toHaveLength(tokens!.length)
    for (const [index, token] of tokens!.entries()) {
      expect(top_logprobs![index]![token]).toBe(token_logprobs![index])
      expect(choices[0]!.text.slice(text_offset![index])).toBe(tokens!.slice(index).join(''))
    }
  })
})

describe('embeddings', () => {
  it('are the same in both encodings, as long as the model is wide', async () => {
    const input = ['A red circle.', 'Ein roter Kreis.']
    // Without a format the client asks for base64 and decodes it.
    const decoded = await client.embeddings.create({ model: 'tiny', input })
    const plain = await client.embeddings.create({ model: 'tiny', input, encoding_format: 'float' })
    const [own] = await model.embed(input)
    expect(plain.data.map(({ embedding }) => embedding)).toEqual(
      decoded.data.map(({ embedding }) => [...embedding]),
    )
    expect(plain.data[0]!.embedding).toEqual([...own!.vector])
    expect(plain.data.map(({ index }) => index)).toEqual([0, 1])
    expect(plain.usage).toEqual({
      prompt_tokens: expect.any(Number),
      total_tokens: plain.usage.prompt_tokens,
    })
  })

  it('are near for near texts', async () => {
    const cosine = (a: number[], b: number[]): number =>
      a.reduce((sum, value, index) => sum + value * b[index]!, 0)
    const { data } = await client.embeddings.create({
      model: 'tiny',
      input: ['A red circle.', 'A red circle', 'How many dogs are there?'],
      encoding_format: 'float',
    })
    const [one, near, far] = data.map(({ embedding }) => embedding)
    expect(cosine(one!, near!)).toBeGreaterThan(cosine(one!, far!))
  })
})
