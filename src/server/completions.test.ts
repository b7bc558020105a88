import { describe, expect, it } from 'vitest'
import { createTestApp, errorOf, eventsOf } from './test-app.case.ts'

const PATH = '/v1/completions'

describe('a completion', () => {
  it('goes on with the text as it is', async () => {
    const { post, model } = createTestApp()
    expect(await (await post(PATH, { model: 'fake', prompt: 'Once upon' })).json()).toEqual({
      id: expect.stringMatching(/^cmpl-[0-9a-f]{32}$/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'fake',
      choices: [
        { index: 0, text: 'A fox.', logprobs: null, finish_reason: 'stop', engine_finish_reason: 'stop' },
      ],
      usage: {
        prompt_tokens: 70,
        completion_tokens: 2,
        total_tokens: 72,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    })
    expect(model.questions).toMatchObject([
      { chat: { template: false }, message: { text: 'Once upon' }, options: { maxTokens: 16 } },
    ])
    expect(model.openChats).toBe(0)
  })

  it('streams', async () => {
    const { post } = createTestApp()
    const body = { prompt: ['Hi'], max_tokens: 3, stream: true, stream_options: { include_usage: true } }
    const events = (await eventsOf(await post(PATH, body))) as { choices?: { text: string }[] }[]
    expect(events.map((event) => event.choices?.map(({ text }) => text))).toEqual([
      ['A '],
      ['fox.'],
      [''],
      [],
      undefined,
    ])
    expect(events[2]).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: null })
    expect(events[3]).toMatchObject({ usage: { total_tokens: 72 } })
    expect(events[4]).toBe('[DONE]')
  })

  it.each([
    [{}, 'prompt', 'invalid_value'],
    [{ prompt: ['a', 'b'] }, 'prompt', 'invalid_value'],
    [{ prompt: [1, 2] }, 'prompt', 'invalid_value'],
    [{ prompt: 'a', suffix: 'b' }, 'suffix', 'unsupported_parameter'],
    [{ prompt: 'a', echo: true }, 'echo', 'unsupported_parameter'],
    [{ prompt: 'a', logprobs: 21 }, 'logprobs', 'invalid_value'],
    [{ prompt: 'a', response_format: { type: 'json_object' } }, 'response_format', 'unsupported_parameter'],
    [{ prompt: 'a', best_of: 2 }, 'best_of', 'unsupported_parameter'],
  ])('%j is refused, naming %s', async (body, param, code) => {
    const { post } = createTestApp()
    expect(await errorOf(await post(PATH, body))).toMatchObject({ status: 400, param, code })
  })
})
