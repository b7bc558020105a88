import { describe, expect, it } from 'vitest'
import { createTestApp, errorOf, eventsOf } from './test-app.case.ts'

const PATH = '/v1/responses'

describe('a response', () => {
  it('holds the answer as an item', async () => {
    const { post, model } = createTestApp()
    const response = await post(PATH, {
      model: 'fake',
      instructions: 'Be brief.',
      input: 'Hello',
      max_output_tokens: 5,
    })
    expect(await response.json()).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'A fox.', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 70,
        output_tokens: 2,
        total_tokens: 72,
        input_tokens_details: { cached_tokens: 0 },
      },
    })
    expect(model.questions[0]).toMatchObject({
      chat: { messages: [{ role: 'system', text: 'Be brief.' }] },
      message: { text: 'Hello' },
      options: { maxTokens: 5 },
    })
  })

  it('that was cut is incomplete', async () => {
    const { post } = createTestApp({}, { answer: () => ({ finishReason: 'length' }) })
    expect(await (await post(PATH, { input: 'Hello' })).json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  it('takes items with pictures', async () => {
    const { post, model } = createTestApp()
    await post(PATH, {
      input: [
        { role: 'user', content: 'One?' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A fox.' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'And this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
          ],
        },
      ],
    })
    expect(model.questions[0]).toMatchObject({
      chat: {
        messages: [
          { role: 'user', text: 'One?' },
          { role: 'assistant', text: 'A fox.' },
        ],
      },
      message: { text: 'And this?', imageOffsets: [0] },
      options: { detail: 'low' },
    })
  })

  it('streams named events in order', async () => {
    const { post } = createTestApp()
    const events = (await eventsOf(await post(PATH, { input: 'Hello', stream: true }))) as {
      type: string
      sequence_number: number
    }[]
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(events[4]).toMatchObject({ delta: 'A ', output_index: 0, content_index: 0 })
    expect(events[6]).toMatchObject({ text: 'A fox.' })
    expect(events[9]).toMatchObject({ response: { status: 'completed', usage: { output_tokens: 2 } } })
  })

  it('that fails in the middle says so', async () => {
    const { post } = createTestApp({}, { answer: () => ({ error: new Error('x') }) })
    expect((await eventsOf(await post(PATH, { input: 'Hello', stream: true }))).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    })
  })

  it.each([
    [{ input: 'x', previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ input: 'x', text: { verbosity: 'high' } }, 'text.verbosity'],
    [{ input: 'x', include: ['reasoning.encrypted_content'] }, 'include'],
    [{ input: 'x', tools: [{ type: 'web_search' }] }, 'tools'],
    [{ input: [{ type: 'reasoning' }] }, 'input[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input[0].content[0].type'],
  ])('%j is refused, naming %s', async (body, param) => {
    const { post } = createTestApp()
    expect(await errorOf(await post(PATH, body))).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param,
    })
  })

  it('needs an input', async () => {
    const { post } = createTestApp()
    expect(await errorOf(await post(PATH, {}))).toMatchObject({ status: 400, param: 'input' })
  })
})
