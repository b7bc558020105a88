/** The server over a socket, as the official client of OpenAI sees it, with the bundled model. */
import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledModelPath, loadModel, type Model } from '../../src/entry/index.node.ts'
import { type RequestLogEntry, type RunningServer, startServer } from '../../src/entry/server.ts'
import { goldenPath } from '../support/golden-model.ts'

const CASE = JSON.parse(
  readFileSync(goldenPath('tiny-cases/cases.jsonl'), 'utf8').split('\n', 1)[0] as string,
) as { picture: string; turns: { ask: string; says: string }[] }
const [FIRST, SECOND] = CASE.turns as [(typeof CASE.turns)[0], (typeof CASE.turns)[0]]
const PICTURE = `data:image/png;base64,${readFileSync(goldenPath(`tiny-cases/${CASE.picture}`)).toString('base64')}`
const QUESTION = {
  role: 'user' as const,
  content: [
    { type: 'text' as const, text: FIRST.ask },
    { type: 'image_url' as const, image_url: { url: PICTURE } },
  ],
}

let model: Model
let server: RunningServer
let client: OpenAI
const log: RequestLogEntry[] = []
beforeAll(async () => {
  model = await loadModel(bundledModelPath())
  server = await startServer({
    models: { tiny: model },
    port: 0,
    apiKey: 'secret',
    queueLength: 1,
    log: (entry) => log.push(entry),
  })
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'secret', maxRetries: 0 })
})
afterAll(async () => {
  await server.stop(0)
  await model.dispose()
})

describe('the official client', () => {
  it('lists the model', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['tiny'])
    expect(await client.models.retrieve('tiny')).toMatchObject({ id: 'tiny', object: 'model' })
  })

  it('asks about a picture, and goes on without computing it again', async () => {
    const first = await client.chat.completions.create({ model: 'tiny', messages: [QUESTION] })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: FIRST.says },
    })
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0)
    const second = await client.chat.completions.create({
      model: 'tiny',
      messages: [QUESTION, { role: 'assistant', content: FIRST.says }, { role: 'user', content: SECOND.ask }],
    })
    expect(second.choices[0]?.message.content).toBe(SECOND.says)
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThanOrEqual(
      first.usage!.prompt_tokens,
    )
  })

  it('streams, with the count of tokens at the end', async () => {
    const stream = client.chat.completions.stream({
      model: 'tiny',
      messages: [QUESTION],
      stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    stream.on('content', (piece) => pieces.push(piece))
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: FIRST.says } })
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe(FIRST.says)
    expect(completion.usage?.completion_tokens).toBeGreaterThanOrEqual(pieces.length)
  })

  it('limits the answer', async () => {
    const short = await client.chat.completions.create({
      model: 'tiny',
      messages: [QUESTION],
      max_completion_tokens: 2,
    })
    expect(short).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 2 } })
    const stopped = await client.chat.completions.create({
      model: 'tiny',
      messages: [QUESTION],
      stop: [FIRST.says.slice(4, 6)],
    })
    expect(stopped.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: FIRST.says.slice(0, 4) },
    })
  })

  it('uses responses, whole and streamed', async () => {
    const input = [
      {
        role: 'user' as const,
        content: [
          { type: 'input_text' as const, text: FIRST.ask },
          { type: 'input_image' as const, image_url: PICTURE, detail: 'auto' as const },
        ],
      },
    ]
    const response = await client.responses.create({ model: 'tiny', input })
    expect([response.status, response.output_text]).toEqual(['completed', FIRST.says])
    const stream = client.responses.stream({ model: 'tiny', input })
    const final = await stream.finalResponse()
    expect([final.status, final.output_text]).toEqual(['completed', FIRST.says])
  })

  it('continues a text', async () => {
    const prompt = '<|im_start|>User: Hello<end_of_utterance>\nAssistant:'
    const completion = await client.completions.create({ model: 'tiny', prompt, max_tokens: 8 })
    expect(completion.choices[0]).toMatchObject({ text: ' Hi! Show me', finish_reason: 'length' })
    const pieces: string[] = []
    for await (const { choices } of await client.completions.create({
      model: 'tiny',
      prompt,
      max_tokens: 8,
      stream: true,
    }))
      pieces.push(choices[0]?.text ?? '')
    expect(pieces.join('')).toBe(' Hi! Show me')
  })

  it('leaves in the middle, and the next request is answered at once', async () => {
    const leaving = new AbortController()
    const stream = await client.chat.completions.create(
      { model: 'tiny', messages: [QUESTION], stream: true },
      { signal: leaving.signal },
    )
    for await (const _ of stream) leaving.abort()
    const next = await client.chat.completions.create({ model: 'tiny', messages: [QUESTION] })
    expect(next.choices[0]?.message.content).toBe(FIRST.says)
  })

  it('gets errors that it understands', async () => {
    const ask = (body: object) =>
      client.chat.completions.create({ model: 'tiny', messages: [QUESTION], ...body } as never)
    await expect(ask({ n: 2 })).rejects.toMatchObject({
      name: 'Error',
      status: 400,
      code: 'unsupported_parameter',
      param: 'n',
      message:
        '400 n: one answer a request is offered. Leave it out; parameters are model, messages, stream, stream_options, max_completion_tokens, max_tokens, response_format, logprobs, top_logprobs, temperature, top_p, top_k, min_p, repetition_penalty, seed, stop.',
    })
    await expect(ask({ model: 'other' })).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    await expect(
      ask({ messages: [{ role: 'user', content: 'word '.repeat(20_000) }] }),
    ).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
    await expect(
      ask({
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
          },
        ],
      }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_image' })
    await expect(
      new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wrong', maxRetries: 0 }).models.list(),
    ).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })

  it('tries again when the queue is full', async () => {
    const patient = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'secret', maxRetries: 5 })
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        patient.chat.completions.create({ model: 'tiny', messages: [QUESTION], max_tokens: 4 }),
      ),
    )
    expect(new Set(answers.map(({ choices }) => choices[0]?.message.content)).size).toBe(1)
    expect(log.some(({ status }) => status === 429)).toBe(true)
  })
})
