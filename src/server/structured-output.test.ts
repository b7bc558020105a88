/** Answers of a given structure, and the scores of their tokens, on all routes. */
import { describe, expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { createTestApp, errorOf, eventsOf } from './test-app.case.ts'

const CHAT = '/v1/chat/completions'
const COMPLETIONS = '/v1/completions'
const RESPONSES = '/v1/responses'
const HELLO = { messages: [{ role: 'user', content: 'Hello' }] }
const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

describe('a structure', () => {
  it.each([
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA, strict: true } } },
      SCHEMA,
    ],
    [CHAT, { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } }, SCHEMA],
    [CHAT, { response_format: { type: 'json_object' } }, { type: 'object' }],
    [CHAT, { response_format: { type: 'json_object', schema: SCHEMA } }, SCHEMA],
    [CHAT, { response_format: { type: 'text' } }, undefined],
    [CHAT, { response_format: null }, undefined],
    [
      RESPONSES,
      { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true } } },
      SCHEMA,
    ],
    [RESPONSES, { text: { format: { type: 'json_object' } } }, { type: 'object' }],
    [RESPONSES, { text: { format: { type: 'text' }, verbosity: 'medium' } }, undefined],
  ])('%s with %j asks the model for it', async (path, body, expected) => {
    const { post, model } = createTestApp()
    const response = await post(path, { ...(path === CHAT ? HELLO : { input: 'Hello' }), ...body })
    expect(response.status).toBe(200)
    expect(model.questions[0]!.options.responseSchema).toEqual(expected)
  })

  it.each([
    [CHAT, { response_format: {} }, 'response_format.type', 'invalid_value'],
    [CHAT, { response_format: { type: 'xml' } }, 'response_format.type', 'invalid_value'],
    [CHAT, { response_format: { type: 'json_schema' } }, 'response_format.json_schema', 'invalid_value'],
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: {} } },
      'response_format.json_schema.schema',
      'invalid_value',
    ],
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: { schema: [] } } },
      'response_format.json_schema.schema',
      'invalid_value',
    ],
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: { name: 'a b', schema: {} } } },
      'response_format.json_schema.name',
      'invalid_value',
    ],
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: { strict: 'yes', schema: {} } } },
      'response_format.json_schema.strict',
      'invalid_value',
    ],
    [CHAT, { response_format: { type: 'json_object' }, stop: 'END' }, 'stop', 'unsupported_parameter'],
    [
      RESPONSES,
      { text: { format: { type: 'json_schema', name: 'n' } } },
      'text.format.schema',
      'invalid_value',
    ],
    [RESPONSES, { text: { format: { type: 'json_object' } }, stop: ['x'] }, 'stop', 'unsupported_parameter'],
  ])('%s with %j is refused, naming %s', async (path, body, param, code) => {
    const { post, model } = createTestApp()
    const response = await post(path, { ...(path === CHAT ? HELLO : { input: 'Hello' }), ...body })
    expect(await errorOf(response)).toMatchObject({ status: 400, param, code })
    expect(model.questions).toEqual([])
  })

  it.each([
    [
      CHAT,
      { ...HELLO, response_format: { type: 'json_schema', json_schema: { schema: { not: {} } } } },
      'response_format.json_schema.schema',
    ],
    [
      RESPONSES,
      { input: 'Hello', text: { format: { type: 'json_schema', name: 'n', schema: { not: {} } } } },
      'text.format.schema',
    ],
  ])('that the engine does not know is named by its place: %s', async (path, body, field) => {
    const error = new EngineError('option/schema', {
      message: "The schema's #/not is not supported.",
      field: '#/not',
      hint: 'Say what is allowed instead.',
    })
    const { post } = createTestApp({}, { answer: () => ({ pieces: [], error }) })
    for (const stream of [false, true]) {
      expect(await errorOf(await post(path, { ...body, stream }))).toEqual({
        status: 400,
        type: 'invalid_request_error',
        code: 'unsupported_schema',
        param: field,
        message: `${field}: The schema's #/not is not supported. Say what is allowed instead.`,
      })
    }
  })

  it('is repeated by responses', async () => {
    const { post } = createTestApp()
    const format = { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true }
    expect(await (await post(RESPONSES, { input: 'x', text: { format } })).json()).toMatchObject({
      text: { format },
    })
    expect(await (await post(RESPONSES, { input: 'x' })).json()).toMatchObject({
      text: { format: { type: 'text' } },
    })
  })
})

/** What the fake model says of its pieces. */
const A = { token: 'A ', logprob: -Math.LN2, bytes: [65, 32] }
const FOX = { token: 'fox.', logprob: -2 * Math.LN2, bytes: [102, 111, 120, 46] }
const OTHER_A = { token: 'other 1', logprob: -2 * Math.LN2, bytes: [...new TextEncoder().encode('other 1')] }
const OTHER_FOX = { ...OTHER_A, logprob: -3 * Math.LN2 }

describe('scores', () => {
  it('of chat completions', async () => {
    const { post, model } = createTestApp()
    const content = [
      { ...A, top_logprobs: [A, OTHER_A] },
      { ...FOX, top_logprobs: [FOX, OTHER_FOX] },
    ]
    const body = { ...HELLO, logprobs: true, top_logprobs: 2 }
    expect(await (await post(CHAT, body)).json()).toMatchObject({
      choices: [{ logprobs: { content, refusal: null } }],
    })
    expect(model.questions[0]!.options.logprobs).toBe(2)
    const events = (await eventsOf(await post(CHAT, { ...body, stream: true }))) as {
      choices: { logprobs: unknown }[]
    }[]
    expect(events.slice(0, -1).map(({ choices }) => choices[0]!.logprobs)).toEqual([
      null,
      { content: content.slice(0, 1), refusal: null },
      { content: content.slice(1), refusal: null },
      null,
    ])
  })

  it('of the tokens alone', async () => {
    const { post, model } = createTestApp()
    const response = await post(CHAT, { ...HELLO, logprobs: true })
    expect(await response.json()).toMatchObject({
      choices: [
        {
          logprobs: {
            content: [
              { ...A, top_logprobs: [] },
              { ...FOX, top_logprobs: [] },
            ],
          },
        },
      ],
    })
    await post(CHAT, { ...HELLO, logprobs: false, top_logprobs: 0 })
    expect(model.questions.map(({ options }) => options.logprobs)).toEqual([0, undefined])
  })

  it('of completions', async () => {
    const { post } = createTestApp()
    const logprobs = {
      tokens: ['A ', 'fox.'],
      token_logprobs: [A.logprob, FOX.logprob],
      top_logprobs: [
        { 'A ': A.logprob, 'other 1': OTHER_A.logprob },
        { 'fox.': FOX.logprob, 'other 1': OTHER_FOX.logprob },
      ],
      text_offset: [0, 2],
    }
    expect(await (await post(COMPLETIONS, { prompt: 'x', logprobs: 2 })).json()).toMatchObject({
      choices: [{ logprobs }],
    })
    const events = (await eventsOf(await post(COMPLETIONS, { prompt: 'x', logprobs: 0, stream: true }))) as {
      choices: { logprobs: unknown }[]
    }[]
    expect(events.slice(0, 2).map(({ choices }) => choices[0]!.logprobs)).toEqual([
      { tokens: ['A '], token_logprobs: [A.logprob], top_logprobs: [{ 'A ': A.logprob }], text_offset: [0] },
      {
        tokens: ['fox.'],
        token_logprobs: [FOX.logprob],
        top_logprobs: [{ 'fox.': FOX.logprob }],
        text_offset: [2],
      },
    ])
  })

  it('of responses', async () => {
    const { post } = createTestApp()
    const logprobs = [
      { ...A, top_logprobs: [A] },
      { ...FOX, top_logprobs: [FOX] },
    ]
    const body = { input: 'x', include: ['message.output_text.logprobs'], top_logprobs: 1 }
    expect(await (await post(RESPONSES, body)).json()).toMatchObject({
      output: [{ content: [{ logprobs }] }],
    })
    const events = (await eventsOf(await post(RESPONSES, { ...body, stream: true }))) as {
      type: string
      logprobs?: unknown
    }[]
    const scored = events.filter((event) => event.logprobs !== undefined)
    expect(scored.map(({ type, logprobs: found }) => [type, found])).toEqual([
      ['response.output_text.delta', logprobs.slice(0, 1)],
      ['response.output_text.delta', logprobs.slice(1)],
      ['response.output_text.done', logprobs],
    ])
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ logprobs }] }] } })
  })

  it.each([
    [CHAT, { ...HELLO, top_logprobs: 2 }, 'logprobs'],
    [CHAT, { ...HELLO, logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    [CHAT, { ...HELLO, logprobs: 3 }, 'logprobs'],
    [COMPLETIONS, { prompt: 'x', logprobs: 1.5 }, 'logprobs'],
    [RESPONSES, { input: 'x', top_logprobs: -1 }, 'top_logprobs'],
  ])('%s with %j are refused, naming %s', async (path, body, param) => {
    const { post } = createTestApp()
    expect(await errorOf(await post(path, body))).toMatchObject({ status: 400, param, code: 'invalid_value' })
  })
})
