import { describe, expect, it } from 'vitest'
import { createFakeModel } from '../testing/fake-model.ts'
import { createServerApp } from './app.ts'
import { createGate, createTestApp, errorOf, eventsOf, settle } from './test-app.case.ts'

const CHAT = '/v1/chat/completions'
const HELLO = { messages: [{ role: 'user', content: 'Hello' }] }
const REFUSED = { status: 403, type: 'permission_error', param: null }

describe('routes', () => {
  it('list the models', async () => {
    const { get } = createTestApp({
      models: { 'owner/eyes': createFakeModel(), words: createFakeModel({ takesImages: false }) },
    })
    const eyes = {
      id: 'owner/eyes',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'onsight',
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      context_length: 2048,
    }
    const words = {
      ...eyes,
      id: 'words',
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    }
    expect(await (await get('/v1/models')).json()).toEqual({ object: 'list', data: [eyes, words] })
    expect(await (await get('/v1/models/owner/eyes')).json()).toEqual(eyes)
    expect(await errorOf(await get('/v1/models/other'))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  it.each(['/health', '/v1/health'])('%s says that it is there, without a key', async (path) => {
    const { get } = createTestApp({ apiKey: 'secret' })
    const response = await get(path)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  it('that do not exist are named', async () => {
    const { get } = createTestApp()
    expect(await errorOf(await get('/v1/chat'))).toMatchObject({
      status: 404,
      code: 'unknown_url',
      message: expect.stringContaining('There is no GET /v1/chat here. Routes are POST /v1/chat/completions'),
    })
  })
})

describe('the host that was asked for', () => {
  it.each(['localhost', 'localhost:9999', '127.0.0.1:8321', '127.1.2.3', '[::1]:8321', 'LOCALHOST:1'])(
    'may be %s',
    async (host) => {
      expect((await createTestApp().get('/v1/models', { host })).status).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'evil.example:8321',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.168.1.2',
    '',
  ])('may not be %j, whatever the route', async (host) => {
    for (const path of ['/health', '/v1/models', '/nothing']) {
      expect(await errorOf(await createTestApp().get(path, { host }))).toMatchObject({
        ...REFUSED,
        code: 'host_refused',
      })
    }
  })

  it('may be what the server is told, or any with a key', async () => {
    expect(
      (await createTestApp({ hosts: ['box.lan'] }).get('/v1/models', { host: 'Box.lan:80' })).status,
    ).toBe(200)
    const open = createTestApp({ hosts: 'any', apiKey: 'k' })
    expect((await open.get('/v1/models', { host: 'x.y', 'x-api-key': 'k' })).status).toBe(200)
  })
})

describe('pages of the web', () => {
  it('may not ask', async () => {
    const { post, model } = createTestApp()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const response = await post(CHAT, HELLO, headers as Record<string, string>)
      expect(response.headers.get('access-control-allow-origin')).toBe(null)
      expect(await errorOf(response)).toMatchObject({ ...REFUSED, code: 'origin_refused' })
    }
    expect(model.questions).toEqual([])
  })

  it('of the server itself may', async () => {
    const { post } = createTestApp()
    expect(
      (await post(CHAT, HELLO, { origin: 'http://localhost:8321', 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(200)
  })

  it('that are listed may, each told of itself only', async () => {
    const { post, app } = createTestApp({ corsOrigins: ['https://a.example', 'https://b.example'] })
    const response = await post(CHAT, HELLO, { origin: 'https://b.example', 'sec-fetch-site': 'cross-site' })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://b.example')
    const refused = await post(CHAT, {}, { origin: 'https://b.example' })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      400,
      'https://b.example',
    ])
    const preflight = await app.fetch(
      new Request(`http://localhost${CHAT}`, {
        method: 'OPTIONS',
        headers: {
          host: 'localhost',
          origin: 'https://a.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,x-stainless-os',
        },
      }),
    )
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://a.example')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,x-stainless-os')
  })

  it('cannot send what needs no preflight', async () => {
    const { post } = createTestApp()
    expect(await errorOf(await post(CHAT, HELLO, { 'content-type': 'text/plain' }))).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    })
    expect((await post(CHAT, HELLO, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200)
  })
})

describe('the key', () => {
  it.each<[string, Record<string, string>, number]>([
    ['none', {}, 401],
    ['a wrong one', { authorization: 'Bearer secreT' }, 401],
    ['a longer one', { authorization: 'Bearer secret2' }, 401],
    ['another scheme', { authorization: 'Basic secret' }, 401],
    ['the right one', { authorization: 'Bearer secret' }, 200],
    ['the right one in its own header', { 'x-api-key': 'secret' }, 200],
  ])('%s: %j → %i', async (_, headers, status) => {
    const { post, get } = createTestApp({ apiKey: 'secret' })
    expect((await post(CHAT, HELLO, headers)).status).toBe(status)
    expect((await get('/metrics', headers)).status).toBe(status)
  })

  it('is asked for in the form that clients know', async () => {
    expect(await errorOf(await createTestApp({ apiKey: 'secret' }).post(CHAT, HELLO))).toEqual({
      status: 401,
      message: 'This server needs an API key. Send it as "Authorization: Bearer KEY".',
      type: 'authentication_error',
      param: null,
      code: 'invalid_api_key',
    })
  })
})

describe('a body', () => {
  it('has a largest size, stated or not', async () => {
    const { post, app } = createTestApp({ maxBodyBytes: 100 })
    expect(await errorOf(await post(CHAT, 'x'.repeat(101)))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    })
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(30).fill(32))
      },
    })
    const request = new Request(`http://localhost${CHAT}`, {
      method: 'POST',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: endless,
      duplex: 'half',
    } as RequestInit)
    expect((await app.fetch(request)).status).toBe(413)
    expect(pulled).toBeLessThan(10)
  })

  it.each(['', '{"messages":', '{"a":"\ud800"}', 'null', '[]', '7'])('%j is refused', async (body) => {
    expect(await errorOf(await createTestApp().post(CHAT, body))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
    })
  })
})

describe('the queue', () => {
  it('answers one at a time, in order, and refuses more than it may hold', async () => {
    const gates = [createGate(), createGate(), createGate()]
    const asked: string[] = []
    const { post } = createTestApp(
      { queueLength: 2 },
      {
        answer: ({ message }) => {
          asked.push(message.text)
          return {
            pieces: [message.text],
            beforePiece: () => gates[asked.length - 1]?.opened ?? Promise.resolve(),
          }
        },
      },
    )
    const ask = (content: string) => post(CHAT, { messages: [{ role: 'user', content }] })
    const answers = ['1', '2', '3'].map(ask)
    await settle()
    const refused = await ask('4')
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(await errorOf(refused)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'queue_full',
    })
    expect(asked).toEqual(['1'])
    for (const gate of gates) {
      gate.open()
      await settle()
    }
    expect(asked).toEqual(['1', '2', '3'])
    for (const [index, answer] of answers.entries()) {
      expect(await (await answer).json()).toMatchObject({
        choices: [{ message: { content: String(index + 1) } }],
      })
    }
    expect((await ask('5')).status).toBe(200)
  })

  it('lets go of who leaves while waiting', async () => {
    const gate = createGate()
    const { post, model } = createTestApp({}, { answer: () => ({ beforePiece: () => gate.opened }) })
    const first = post(CHAT, HELLO)
    await settle()
    const leaving = new AbortController()
    const second = post(CHAT, HELLO, {}, leaving.signal)
    const third = post(CHAT, HELLO)
    await settle()
    leaving.abort()
    expect((await second).status).toBe(499)
    gate.open()
    expect((await first).status).toBe(200)
    expect((await third).status).toBe(200)
    expect(model.questions).toHaveLength(2)
  })
})

describe('an answer is given up', () => {
  it('when the client leaves, and the conversation is closed', async () => {
    const gate = createGate()
    const { post, model, log } = createTestApp(
      {},
      { answer: () => ({ beforePiece: (index) => (index === 1 ? gate.opened : Promise.resolve()) }) },
    )
    const response = await post(CHAT, { ...HELLO, stream: true })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(model.questions[0]!.options.signal?.aborted).toBe(true)
    gate.open()
    await settle()
    expect(model.openChats).toBe(0)
    expect(log).toMatchObject([
      { status: 499, error: 'server/client-left: The client closed the connection.' },
    ])
  })

  it('when its time is up', async () => {
    const { post, model } = createTestApp(
      { requestTimeoutMs: 20 },
      { answer: () => ({ beforePiece: () => new Promise((resolve) => setTimeout(resolve, 60)) }) },
    )
    const response = await post(CHAT, HELLO)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await errorOf(response)).toMatchObject({ status: 504, code: 'timeout' })
    expect(model.openChats).toBe(0)
  })

  it('when the server stops, after the time of grace; new ones are refused', async () => {
    const gate = createGate()
    const { post, app, model } = createTestApp(
      {},
      { answer: () => ({ beforePiece: (index) => (index === 1 ? gate.opened : Promise.resolve()) }) },
    )
    const running = await post(CHAT, { ...HELLO, stream: true })
    const stopped = app.stop(20)
    const late = await post(CHAT, HELLO)
    expect(late.headers.get('retry-after')).toBe('2')
    expect(await errorOf(late)).toMatchObject({ status: 503, code: 'stopping' })
    setTimeout(gate.open, 60)
    expect((await eventsOf(running)).at(-1)).toMatchObject({ error: { code: 'stopping' } })
    await stopped
    expect(model.openChats).toBe(0)
  })

  it('not when the server stops and grace suffices', async () => {
    const { post, app, model } = createTestApp()
    const running = post(CHAT, { ...HELLO, stream: true })
    await settle()
    await app.stop(5000)
    expect((await eventsOf(await running)).at(-1)).toBe('[DONE]')
    expect(model.openChats).toBe(0)
  })
})

describe('a slow reader', () => {
  it('does not keep the model from the next', async () => {
    const { post } = createTestApp({}, { answer: () => ({ pieces: Array(200).fill('word ') as string[] }) })
    const slow = await post(CHAT, { ...HELLO, stream: true })
    expect((await post(CHAT, HELLO)).status).toBe(200)
    expect(await eventsOf(slow)).toHaveLength(203)
  })

  it('holds the model back before the memory fills', async () => {
    let said = 0
    const { post, model } = createTestApp(
      {},
      {
        answer: () => ({
          pieces: Array(100).fill('x'.repeat(10_000)) as string[],
          beforePiece: async () => void said++,
        }),
      },
    )
    const response = await post(CHAT, { ...HELLO, stream: true })
    await settle()
    expect(said).toBeLessThan(40)
    const waiting = post(CHAT, HELLO)
    await response.body!.cancel()
    expect((await waiting).status).toBe(200)
    await settle()
    expect(model.openChats).toBe(1)
  })
})

describe('conversations', () => {
  const turns = (...texts: string[]) =>
    texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))

  it('go on where the last request ended', async () => {
    const { post, model } = createTestApp(
      {},
      { answer: ({ turn }) => ({ computedTokens: turn === 0 ? 70 : 12 }) },
    )
    await post(CHAT, { messages: turns('Hi') })
    const second = await post(CHAT, { messages: turns('Hi', 'A fox.', 'More?') })
    expect(await second.json()).toMatchObject({ usage: { prompt_tokens_details: { cached_tokens: 58 } } })
    await post(CHAT, { messages: turns('Hi', 'A fox!', 'More?') })
    expect(model.questions.map(({ turn, chat }) => [turn, chat.messages?.length])).toEqual([
      [0, 0],
      [1, 0],
      [0, 2],
    ])
  })

  it('are the same only with the same pictures, looked at as closely', async () => {
    const { post, model } = createTestApp()
    const about = (data: string, detail: string) => [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:;base64,${data}`, detail } }] },
      { role: 'assistant', content: 'A fox.' },
      { role: 'user', content: 'More?' },
    ]
    await post(CHAT, { messages: about('AA==', 'low').slice(0, 1) })
    await post(CHAT, { messages: about('AQ==', 'low') })
    await post(CHAT, { messages: about('AA==', 'high') })
    await post(CHAT, { messages: about('AA==', 'low') })
    expect(model.questions.map(({ turn }) => turn)).toEqual([0, 0, 0, 1])
  })

  it('are kept up to a number, the oldest closed first', async () => {
    const { post, model, app } = createTestApp({ keptConversations: 2 })
    for (const text of ['1', '2', '3']) await post(CHAT, { messages: turns(text) })
    expect(model.openChats).toBe(2)
    await post(CHAT, { messages: turns('1', 'A fox.', 'x') })
    await post(CHAT, { messages: turns('3', 'A fox.', 'x') })
    expect(model.questions.map(({ turn }) => turn)).toEqual([0, 0, 0, 0, 1])
    await app.stop(0)
    expect(model.openChats).toBe(0)
  })

  it('make room when memory is short', async () => {
    const { EngineError } = await import('../shared/errors.ts')
    let isFull = false
    const { post, model } = createTestApp(
      {},
      {
        answer: () => {
          const wasFull = isFull
          isFull = false
          return wasFull
            ? { pieces: [], error: new EngineError('backend/out-of-memory', { message: 'Full.' }) }
            : {}
        },
      },
    )
    await post(CHAT, { messages: turns('1') })
    isFull = true
    expect((await post(CHAT, { messages: turns('2') })).status).toBe(200)
    expect(model.openChats).toBe(1)
    const alone = createTestApp(
      { keptConversations: 0 },
      {
        answer: () => ({ pieces: [], error: new EngineError('backend/out-of-memory', { message: 'Full.' }) }),
      },
    )
    const refused = await alone.post(CHAT, { messages: turns('1') })
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(await errorOf(refused)).toMatchObject({ status: 503, code: 'out_of_memory' })
  })
})

describe('metrics', () => {
  it('count in the format of Prometheus', async () => {
    const { post, get } = createTestApp()
    await post(CHAT, HELLO)
    await post(CHAT, {})
    await get('/a'.repeat(50))
    const response = await get('/metrics')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const lines = (await response.text()).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE onsight_requests_total counter',
        'onsight_requests_total{route="/v1/chat/completions",status="200"} 1',
        'onsight_requests_total{route="/v1/chat/completions",status="400"} 1',
        'onsight_requests_total{route="other",status="404"} 1',
        '# TYPE onsight_request_duration_seconds histogram',
        'onsight_request_duration_seconds_bucket{route="/v1/chat/completions",le="+Inf"} 2',
        'onsight_request_duration_seconds_count{route="/v1/chat/completions"} 2',
        'onsight_first_token_seconds_bucket{le="0.01"} 1',
        'onsight_first_token_seconds_sum 0.003',
        'onsight_tokens_total{kind="prompt"} 70',
        'onsight_tokens_total{kind="completion"} 2',
        'onsight_requests_running 0',
        'onsight_requests_waiting 0',
        'onsight_model_memory_bytes{model="fake"} 1100',
        'onsight_conversations_kept{model="fake"} 1',
      ]),
    )
  })
})

describe('options', () => {
  it.each([
    [{ models: {} }, 'A server needs at least one model; found none.'],
    [{ apiKey: ' ' }, 'The API key must not be empty.'],
    [{ hosts: 'any' as const }, 'A server that other machines can ask needs an API key; found none.'],
    [{ corsOrigins: ['*'] }, 'An origin must be like https://app.example, with nothing after it; found "*".'],
    [{ corsOrigins: ['https://a.example/'] }, 'found "https://a.example/".'],
    [{ queueLength: -1 }, 'The option "queueLength" must be a whole number of at least 0; found -1.'],
    [{ port: 1 }, 'There is no option "port" for the server'],
  ])('%j are refused', (options, message) => {
    expect(() => createServerApp({ models: { a: createFakeModel() }, ...options })).toThrow(message)
  })
})
