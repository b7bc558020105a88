import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { AnswerFinished, ChatEvent } from '../../engine/types.ts'
import type { RemotePorts } from './remote-model.ts'
import { connectRemoteOn, type RemoteModel, type RemoteOptions } from './remote-model.ts'

interface Asked {
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

type Answer = (asked: Asked, response: ServerResponse, attempt: number) => void

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const encodePicture: RemotePorts['encodePicture'] = async (_, longestSide) => ({
  jpeg: Uint8Array.of(0xff, 0xd8, longestSide & 255),
  report: { width: 4000, height: 3000, usedWidth: longestSide, usedHeight: 100, orientation: 6 },
})

async function endpoint(
  answer: Answer,
  options: Partial<RemoteOptions> = {},
): Promise<{ model: RemoteModel; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    asked.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    answer(asked.at(-1)!, response, asked.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { model: connectRemoteOn({ fetch, encodePicture }, { url, model: 'eyes', ...options }), asked }
}

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`

const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 2 } })}\n\n`

const sayFox: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(': waiting\n\n')
  response.write(chunk({ role: 'assistant', content: '' }))
  const fox = Buffer.from(chunk({ content: '一只' }) + chunk({ content: '狐狸' }))
  // In the middle of a character.
  const cut = fox.indexOf('狐') + 1
  response.write(fox.subarray(0, cut))
  setTimeout(() => {
    response.write(fox.subarray(cut))
    response.end(`${chunk({}, 'stop')}${USAGE}data: [DONE]\n\n`)
  }, 5)
}

const refuse =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

async function collect(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

const last = (events: readonly ChatEvent[]): AnswerFinished => events.at(-1) as AnswerFinished

describe('a remote conversation', () => {
  it('streams the answer and says who gave it', async () => {
    const { model, asked } = await endpoint(sayFox, { apiKey: 'sk-1' })
    const events = await collect(model.chat({ system: 'Be brief.' }).send({ text: 'What is it?' }))
    expect(events.slice(0, -1)).toEqual([
      { type: 'text-delta', text: '一只' },
      { type: 'text-delta', text: '狐狸' },
    ])
    expect(last(events)).toMatchObject({
      text: '一只狐狸',
      finishReason: 'stop',
      usage: { promptTokens: 30, completionTokens: 2 },
      answeredBy: { route: 'remote', model: 'eyes', host: model.host },
    })
    expect(asked[0]?.headers.authorization).toBe('Bearer sk-1')
    expect(asked[0]?.body).toEqual({
      model: 'eyes',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is it?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('sends earlier turns, pictures in their places, and the options by their wire names', async () => {
    const { model, asked } = await endpoint(sayFox)
    const chat = model.chat({
      messages: [
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: 'Hello' },
      ],
    })
    const picture = Uint8Array.of(1)
    const events = await collect(
      chat.send(
        { text: 'Compare  with ', images: [picture, picture], imageOffsets: [8, 14] },
        { detail: 'low', maxTokens: 9, temperature: 0.5, topP: 0.9, topK: 4, seed: 7, stop: ['.'] },
      ),
    )
    const part = { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9gA', detail: 'low' } }
    expect(asked[0]?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        {
          role: 'user',
          content: [{ type: 'text', text: 'Compare ' }, part, { type: 'text', text: ' with ' }, part],
        },
      ],
      max_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      seed: 7,
      stop: ['.'],
    })
    expect(last(events).images).toHaveLength(2)
    expect(last(events).images[0]).toEqual({
      width: 4000,
      height: 3000,
      usedWidth: 512,
      usedHeight: 100,
      orientation: 6,
      tiles: 1,
      detail: 'low',
      cached: false,
    })
    await collect(chat.send({ text: 'And now?' }))
    expect((asked[1]!.body['messages'] as unknown[]).slice(3)).toEqual([
      { role: 'assistant', content: '一只狐狸' },
      { role: 'user', content: 'And now?' },
    ])
  })

  it('uses the newer name of the limit where the older is refused', async () => {
    const { model, asked } = await endpoint((request, response) => {
      if (request.body['max_tokens'] === undefined) return sayFox(request, response, 0)
      const message = "Unsupported parameter: use 'max_completion_tokens' instead."
      refuse(400, JSON.stringify({ error: { message } }))(request, response, 0)
    })
    const events = await collect(model.chat().send({ text: 'x' }, { maxTokens: 5 }))
    expect(last(events).text).toBe('一只狐狸')
    expect(asked[1]?.body).toMatchObject({ max_completion_tokens: 5 })
  })

  it('asks a busy endpoint again', async () => {
    const { model, asked } = await endpoint((request, response, attempt) =>
      (attempt < 3 ? refuse(429, '{}', { 'retry-after': '0' }) : sayFox)(request, response, attempt),
    )
    expect(last(await collect(model.chat().send({ text: 'x' }))).text).toBe('一只狐狸')
    expect(asked).toHaveLength(3)
  })

  it.each([
    [401, '{"error":{"message":"Bad key"}}', 'remote/not-allowed', /status 401: Bad key\./],
    [404, '{"error":"model not found"}', 'remote/not-found', /model not found/],
    [429, '{"message":"slow down"}', 'remote/limited', /slow down/, { 'retry-after': '3600' }],
    [500, '<html>Oops</html>', 'remote/unavailable', /Oops/],
    [400, '{"error":{"message":"no such field"}}', 'remote/refused', /no such field/],
    [413, '', 'remote/too-large', /status 413\./],
  ] as [number, string, string, RegExp, Record<string, string>?][])(
    'names what status %i means',
    async (status, body, code, message, headers: Record<string, string> = {}) => {
      const { model } = await endpoint(refuse(status, body, headers))
      await expect(collect(model.chat().send({ text: 'x' }))).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      })
    },
  )

  it.each<readonly [string, Answer, string]>([
    [
      'a page',
      (_, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'remote/invalid-answer',
    ],
    [
      'no JSON',
      (_, r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {\n\n'),
      'remote/invalid-answer',
    ],
    [
      'a list',
      (_, r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: []\n\n'),
      'remote/invalid-answer',
    ],
    [
      'no end',
      (_, r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk({ content: 'a' })),
      'remote/invalid-answer',
    ],
    [
      'an error',
      (_, r) =>
        r
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"error":{"message":"CUDA"}}\n\n'),
      'remote/refused',
    ],
    [
      'a filter',
      (_, r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk({}, 'content_filter')),
      'remote/refused',
    ],
    [
      'a break',
      (_, r) => {
        r.writeHead(200, { 'content-type': 'text/event-stream' })
        r.write(chunk({ content: 'a' }), () => r.destroy())
      },
      'remote/unavailable',
    ],
    [
      'another place',
      (_, r) => r.writeHead(307, { location: 'https://example.com/' }).end(),
      'remote/unavailable',
    ],
  ])('refuses %s', async (_, answer, code) => {
    const { model } = await endpoint(answer)
    await expect(collect(model.chat().send({ text: 'x' }))).rejects.toMatchObject({ code })
  })

  it('refuses an endless event', async () => {
    const { model } = await endpoint((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: ')
      for (let piece = 0; piece < 40; piece++) response.write('x'.repeat(1 << 16))
    })
    await expect(collect(model.chat().send({ text: 'x' }))).rejects.toMatchObject({
      code: 'remote/invalid-answer',
    })
  })

  it('gives up an endpoint that falls silent', async () => {
    const { model } = await endpoint(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(chunk({ content: 'a' }))
      },
      { timeoutMs: 200 },
    )
    await expect(collect(model.chat().send({ text: 'x' }))).rejects.toMatchObject({ code: 'remote/timeout' })
  })

  it('says that nobody is there', async () => {
    const model = connectRemoteOn({ fetch, encodePicture }, { url: 'http://127.0.0.1:9/v1', model: 'm' })
    await expect(collect(model.chat().send({ text: 'x' }))).rejects.toMatchObject({
      code: 'remote/unavailable',
      message: expect.stringContaining('127.0.0.1:9 could not be reached'),
    })
  })

  it('ends when aborted, keeps what was heard, and goes on', async () => {
    const { model, asked } = await endpoint((request, response, attempt) => {
      if (attempt > 1) return sayFox(request, response, attempt)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ content: 'Once' }))
    })
    const chat = model.chat()
    const controller = new AbortController()
    const events: ChatEvent[] = []
    for await (const event of chat.send({ text: 'Tell' }, { signal: controller.signal })) {
      events.push(event)
      controller.abort()
    }
    expect(last(events)).toMatchObject({ text: 'Once', finishReason: 'aborted' })
    await collect(chat.send({ text: 'Go on' }))
    expect((asked[1]!.body['messages'] as unknown[])[1]).toEqual({ role: 'assistant', content: 'Once' })
  })

  it('keeps nothing of a message that failed', async () => {
    const { model, asked } = await endpoint((request, response, attempt) =>
      (attempt === 1 ? refuse(400, '') : sayFox)(request, response, attempt),
    )
    const chat = model.chat()
    await expect(collect(chat.send({ text: 'first' }))).rejects.toThrow()
    await collect(chat.send({ text: 'second' }))
    expect(asked[1]?.body['messages']).toEqual([{ role: 'user', content: 'second' }])
  })

  it('refuses options that only the device knows, by name', async () => {
    const { model, asked } = await endpoint(sayFox)
    await expect(collect(model.chat().send({ text: 'x' }, { ignoreEos: true }))).rejects.toMatchObject({
      code: 'remote/unsupported-option',
      field: 'ignoreEos',
    })
    expect(asked).toEqual([])
  })

  it('answers once at a time, and never after its end', async () => {
    const { model } = await endpoint(sayFox)
    const chat = model.chat()
    const running = chat.send({ text: 'x' })
    await running.next()
    await expect(chat.send({ text: 'y' }).next()).rejects.toMatchObject({ code: 'generation/busy' })
    await model.dispose()
    expect(last(await collect(running)).finishReason).toBe('aborted')
    await expect(chat.send({ text: 'y' }).next()).rejects.toMatchObject({ code: 'generation/disposed' })
    expect(() => model.chat()).toThrow(expect.objectContaining({ code: 'generation/disposed' }))
  })
})

describe('the address of an endpoint', () => {
  const connect = (url: string, apiKey?: string) =>
    connectRemoteOn({ fetch, encodePicture }, { url, model: 'm', ...(apiKey !== undefined && { apiKey }) })

  it.each([
    'https://api.example.com/v1/',
    'http://127.0.0.1:8321/v1',
    'http://localhost:1234/v1',
    'http://192.168.1.20/v1',
    'http://[::1]:8080/v1',
    'http://box.local/v1',
  ])('may be %s', (url) => {
    expect(connect(url).host).toBe(new URL(url).host)
  })

  it.each([
    ['api.example.com/v1', /an address such as/],
    ['ftp://example.com', /http\(s\)/],
    ['http://api.example.com/v1', /unencrypted/],
    ['http://172.32.0.1/v1', /unencrypted/],
    ['https://me:secret@example.com/v1', /without user name/],
    ['https://example.com/v1?key=secret', /without "\?"/],
  ])('may not be %s', (url, message) => {
    expect(() => connect(url)).toThrow(
      expect.objectContaining({ code: 'option/remote', message: expect.stringMatching(message) }),
    )
  })

  it('never repeats a password', () => {
    expect(() => connect('https://me:secret@example.com/v1')).toThrow(expect.not.stringMatching(/secret/))
  })

  it('takes no keys that would break out of their header', () => {
    expect(() => connect('https://example.com/v1', 'a\r\nx: y')).toThrow(
      expect.objectContaining({ code: 'option/remote', field: 'apiKey' }),
    )
  })
})
