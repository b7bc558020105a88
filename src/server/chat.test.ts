import { describe, expect, it } from 'vitest'
import { createTestApp, errorOf, eventsOf } from './test-app.case.ts'

const CHAT = '/v1/chat/completions'
const HELLO = { model: 'fake', messages: [{ role: 'user', content: 'Hello' }] }
const PNG = 'data:image/png;base64,iVBORw=='

describe('a chat completion', () => {
  it('is what OpenAI clients expect', async () => {
    const { post } = createTestApp()
    const response = await post(CHAT, HELLO)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'fake',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'A fox.', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          engine_finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 70,
        completion_tokens: 2,
        total_tokens: 72,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    })
  })

  it.each([
    ['stop-string', 'stop'],
    ['length', 'length'],
    ['repetition', 'length'],
    ['context-full', 'length'],
  ] as const)('ended by %s has the finish reason %s', async (finishReason, expected) => {
    const { post } = createTestApp({}, { answer: () => ({ finishReason }) })
    expect(await (await post(CHAT, HELLO)).json()).toMatchObject({
      choices: [{ finish_reason: expected, engine_finish_reason: finishReason }],
    })
  })

  it('goes to the first model when it names none', async () => {
    const { post } = createTestApp()
    expect(await (await post(CHAT, { messages: HELLO.messages })).json()).toMatchObject({ model: 'fake' })
  })

  it('of an unknown model is refused', async () => {
    const { post } = createTestApp()
    expect(await errorOf(await post(CHAT, { ...HELLO, model: 'gpt-5' }))).toEqual({
      status: 404,
      message: 'There is no model "gpt-5" here; there is fake.',
      type: 'not_found_error',
      param: 'model',
      code: 'model_not_found',
    })
  })
})

describe('a stream', () => {
  it('begins with the role, ends with the reason, and is done', async () => {
    const { post, log } = createTestApp()
    const response = await post(CHAT, { ...HELLO, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const events = (await eventsOf(response)) as Record<string, unknown>[]
    const head = {
      id: events[0]!['id'],
      object: 'chat.completion.chunk',
      created: events[0]!['created'],
      model: 'fake',
    }
    const choice = (delta: object, end: object = { finish_reason: null }) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, ...end }],
    })
    expect(events).toEqual([
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'A ' }),
      choice({ content: 'fox.' }),
      choice({}, { finish_reason: 'stop', engine_finish_reason: 'stop' }),
      '[DONE]',
    ])
    expect(log).toMatchObject([{ route: CHAT, status: 200, promptTokens: 70, completionTokens: 2 }])
  })

  it('counts tokens at the end when asked to', async () => {
    const { post } = createTestApp()
    const events = await eventsOf(
      await post(CHAT, { ...HELLO, stream: true, stream_options: { include_usage: true } }),
    )
    expect(events).toHaveLength(6)
    expect(events.slice(0, 4).map((event) => (event as { usage: unknown }).usage)).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(events[4]).toMatchObject({ choices: [], usage: { prompt_tokens: 70, total_tokens: 72 } })
  })

  it('that fails before its first word has a status of its own', async () => {
    const { post } = createTestApp()
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,' } }]
    const response = await post(CHAT, { messages: [{ role: 'user', content }], stream: true })
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'invalid_image' })
  })

  it('that fails in the middle ends with an error', async () => {
    const { post, log } = createTestApp({}, { answer: () => ({ error: new Error('secret path') }) })
    const events = await eventsOf(await post(CHAT, { ...HELLO, stream: true }))
    expect(events.at(-1)).toEqual({
      error: {
        message: 'The server failed in a way that it did not expect; its log says more.',
        type: 'server_error',
        param: null,
        code: null,
      },
    })
    expect(log).toMatchObject([{ status: 500, error: 'unexpected', cause: new Error('secret path') }])
  })
})

describe('messages', () => {
  it('become turns, the last one the question', async () => {
    const { post, model } = createTestApp()
    await post(CHAT, {
      messages: [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Be' },
            { type: 'text', text: 'brief.' },
          ],
        },
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: null },
        { role: 'user', content: [{ type: 'text', text: 'Two?' }] },
      ],
    })
    const [{ chat, message }] = model.questions as [(typeof model.questions)[number]]
    expect(chat.messages).toEqual([
      { role: 'system', text: 'Be\nbrief.' },
      { role: 'user', text: 'One?' },
      { role: 'assistant', text: '' },
    ])
    expect(message).toEqual({ text: 'Two?' })
  })

  it('have their pictures before a single text, else where they stand', async () => {
    const { post, model } = createTestApp()
    const picture = { type: 'image_url', image_url: { url: PNG, detail: 'low' } }
    await post(CHAT, {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'What?' }, picture] },
        { role: 'assistant', content: 'A fox.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'A:' },
            { type: 'image_url', image_url: PNG },
            { type: 'text', text: 'B:' },
            { type: 'image_url', image_url: PNG },
          ],
        },
      ],
    })
    const [{ chat, message, options }] = model.questions as [(typeof model.questions)[number]]
    expect(chat.messages?.[0]).toMatchObject({ text: 'What?', imageOffsets: [0], detail: 'low' })
    expect(message).toMatchObject({ text: 'A:B:', imageOffsets: [2, 4] })
    expect(options.detail).toBe('auto')
    const file = message.images?.[0] as File
    expect(file.name).toBe('messages[2].content[1].image_url')
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array([0x89, 0x50, 0x4e, 0x47]))
  })

  it.each([
    [{}, 'messages', 'messages: expected a message of the user at the end, found nothing.'],
    [{ messages: 'Hi' }, 'messages', 'messages: expected a list, found "Hi".'],
    [
      { messages: [{ role: 'assistant', content: 'x' }] },
      'messages',
      'messages: expected a message of the user at the end, found "assistant".',
    ],
    [
      { messages: [{ content: 'x' }] },
      'messages[0].role',
      'messages[0].role: expected one of system, developer, user, assistant, found nothing.',
    ],
    [
      { messages: [{ role: 'user' }] },
      'messages[0].content',
      'messages[0].content: expected a text or a list of parts, found nothing.',
    ],
    [{ messages: [7] }, 'messages[0]', 'messages[0]: expected an object, found 7.'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'messages[0].content[0].type',
      'messages[0].content[0].type: expected text or image_url, found "input_audio".',
    ],
    [
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: PNG }] }] },
      'messages[0].content[0].image_url',
      'messages[0].content[0].image_url: pictures are taken in messages of the user only.',
    ],
    [
      { messages: [{ role: 'tool', content: 'x' }] },
      'messages[0].role',
      'messages[0].role: tools are not offered.',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{}] }] },
      'messages[0].tool_calls',
      'messages[0].tool_calls: is not offered.',
    ],
  ])('%j are refused, naming %s', async (body, param, message) => {
    const { post, model } = createTestApp()
    expect(await errorOf(await post(CHAT, body))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param,
      message,
    })
    expect(model.questions).toEqual([])
  })
})

describe('pictures', () => {
  it.each([
    ['file:///etc/passwd', 'expected a data: address, found "file:///etc/passwd"', 'invalid_image'],
    ['/etc/passwd', 'expected a data: address, found "/etc/passwd"', 'invalid_image'],
    ['http://127.0.0.1/x.png', 'this server does not fetch pictures from other machines', 'invalid_image'],
    ['data:image/png,abc', 'expected data:image/…;base64,…, found "data:image/png"', 'invalid_image'],
    ['data:image/png;base64,####', 'the picture is no valid base64', 'invalid_image'],
    ['data:image/png;base64,', 'no bytes', 'invalid_image'],
  ])('at %s are refused', async (url, message, code) => {
    const { post } = createTestApp()
    const content = [{ type: 'image_url', image_url: { url } }]
    const error = await errorOf(await post(CHAT, { messages: [{ role: 'user', content }] }))
    expect(error).toMatchObject({ status: 400, code })
    expect(error['message']).toContain(`messages[0].content[0].image_url: ${message}`)
  })

  it('may have parameters and any type', async () => {
    const { post } = createTestApp()
    const content = [{ type: 'image_url', image_url: { url: 'data:image/x-y;charset=utf-8;base64,AA==' } }]
    expect((await post(CHAT, { messages: [{ role: 'user', content }] })).status).toBe(200)
  })

  it('may be eight', async () => {
    const { post } = createTestApp()
    const ask = (count: number) =>
      post(CHAT, {
        messages: [{ role: 'user', content: Array(count).fill({ type: 'image_url', image_url: PNG }) }],
      })
    expect((await ask(8)).status).toBe(200)
    expect(await errorOf(await ask(9))).toMatchObject({
      status: 400,
      message: expect.stringContaining('at most 8 pictures in a request, found 9'),
    })
  })

  it('of one message have one detail', async () => {
    const { post } = createTestApp()
    const content = ['low', 'high'].map((detail) => ({ type: 'image_url', image_url: { url: PNG, detail } }))
    expect(await errorOf(await post(CHAT, { messages: [{ role: 'user', content }] }))).toMatchObject({
      status: 400,
      param: 'messages[0].content',
    })
  })

  it('are refused by a text model', async () => {
    const { post } = createTestApp({}, { takesImages: false })
    const content = [{ type: 'image_url', image_url: PNG }]
    expect(await errorOf(await post(CHAT, { messages: [{ role: 'user', content }] }))).toMatchObject({
      status: 400,
      code: 'unsupported_content',
    })
  })

  it('are fetched by the loader that is given', async () => {
    const asked: string[] = []
    const { post, model } = createTestApp({
      loadRemotePicture: async (url) => {
        asked.push(url.href)
        return new Uint8Array([1, 2])
      },
    })
    const content = [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }]
    expect((await post(CHAT, { messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(asked).toEqual(['https://a.example/b.png'])
    expect((model.questions[0]!.message.images![0] as File).size).toBe(2)
  })
})

describe('parameters', () => {
  it('reach the engine by their names there', async () => {
    const { post, model } = createTestApp()
    await post(CHAT, {
      ...HELLO,
      temperature: 0.5,
      top_p: 0,
      top_k: 5,
      min_p: 0.1,
      repetition_penalty: 1.1,
      seed: -1,
      stop: 'END',
      max_tokens: 9,
      max_completion_tokens: 7,
    })
    const { signal: _, ...options } = model.questions[0]!.options
    expect(options).toEqual({
      temperature: 0.5,
      topP: Number.MIN_VALUE,
      topK: 5,
      minP: 0.1,
      repetitionPenalty: 1.1,
      seed: 4294967295,
      stop: ['END'],
      maxTokens: 7,
      detail: 'auto',
    })
  })

  it('that are left out or null leave the model its defaults', async () => {
    const { post, model } = createTestApp()
    await post(CHAT, { ...HELLO, temperature: null, stop: null, max_tokens: null })
    const { signal: _, ...options } = model.questions[0]!.options
    expect(options).toEqual({ detail: 'auto' })
  })

  it.each([
    ['temperature', -1, 'temperature: expected a number from 0 to 100, found -1.'],
    ['temperature', 'hot', 'temperature: expected a number from 0 to 100, found "hot".'],
    ['max_tokens', 0, 'max_tokens: expected a whole number from 1 to 2147483648, found 0.'],
    ['seed', 1.5, 'seed: expected a whole number from -9007199254740991 to 9007199254740991, found 1.5.'],
    ['stop', [''], 'stop: expected a text or up to 16 texts of 1 to 1000 characters, found a list of 1.'],
    ['stream', 'yes', 'stream: expected true or false, found "yes".'],
  ])('%s: %j is refused', async (param, value, message) => {
    const { post } = createTestApp()
    expect(await errorOf(await post(CHAT, { ...HELLO, [param]: value }))).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_value',
      param,
      message,
    })
  })

  it.each([
    ['n', 2],
    ['logit_bias', { 1: 2 }],
    ['frequency_penalty', 0.5],
    ['presence_penalty', -0.5],
    ['tools', [{}]],
    ['tool_choice', 'required'],
    ['modalities', ['audio']],
    ['store', true],
    ['audio', {}],
    ['maxTokens', 5],
  ])('%s: %j is refused by name', async (param, value) => {
    const { post, model } = createTestApp()
    expect(await errorOf(await post(CHAT, { ...HELLO, [param]: value }))).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param,
    })
    expect(model.questions).toEqual([])
  })

  it('that ask for nothing are taken', async () => {
    const { post } = createTestApp()
    const response = await post(CHAT, {
      ...HELLO,
      n: 1,
      logprobs: false,
      logit_bias: {},
      frequency_penalty: 0,
      presence_penalty: 0,
      response_format: { type: 'text' },
      tools: [],
      tool_choice: 'auto',
      modalities: ['text'],
      store: false,
      user: 'me',
      metadata: { a: 'b' },
      parallel_tool_calls: true,
    })
    expect(response.status).toBe(200)
  })
})
