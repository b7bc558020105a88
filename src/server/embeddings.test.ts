import { describe, expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { createFakeModel } from '../testing/fake-model.ts'
import { createTestApp, errorOf } from './test-app.case.ts'

const PATH = '/v1/embeddings'

describe('embeddings', () => {
  it('are what OpenAI clients expect', async () => {
    const { post, log, get } = createTestApp()
    const response = await post(PATH, { input: ['a', 'four'], model: 'fake' })
    expect(await response.json()).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1, 0.5] },
        { object: 'embedding', index: 1, embedding: [4, 0.5] },
      ],
      model: 'fake',
      usage: { prompt_tokens: 6, total_tokens: 6 },
    })
    expect(log).toMatchObject([{ route: PATH, status: 200, model: 'fake', promptTokens: 6 }])
    expect(await (await get('/metrics')).text()).toContain('onsight_tokens_total{kind="prompt"} 6')
  })

  it('are little-endian floats in base64 where asked for', async () => {
    const { post } = createTestApp()
    const response = await post(PATH, { input: 'a', encoding_format: 'base64', user: 'me', dimensions: 2 })
    const { data } = (await response.json()) as { data: { embedding: string }[] }
    expect(Buffer.from(data[0]!.embedding, 'base64').toString('hex')).toBe('0000803f0000003f')
  })

  it('wait in the queue like answers', async () => {
    const { post, app } = createTestApp({ queueLength: 0 })
    const one = post(PATH, { input: 'a' })
    expect(await errorOf(await post(PATH, { input: 'a' }))).toMatchObject({ status: 429, code: 'queue_full' })
    expect((await one).status).toBe(200)
    expect((await post(PATH, { input: 'a' })).status).toBe(200)
    await app.stop(0)
    expect(await errorOf(await post(PATH, { input: 'a' }))).toMatchObject({ status: 503, code: 'stopping' })
  })

  it('that are too long are refused, and the place in the queue is free again', async () => {
    const model = {
      ...createFakeModel(),
      embed: () =>
        Promise.reject(new EngineError('generation/context-full', { message: 'Text 0 is too long.' })),
    }
    const { post } = createTestApp({ models: { fake: model }, queueLength: 0 })
    for (let round = 0; round < 2; round++) {
      expect(await errorOf(await post(PATH, { input: 'a' }))).toMatchObject({
        status: 400,
        code: 'context_length_exceeded',
      })
    }
  })

  it.each([
    [
      {},
      'input',
      'invalid_value',
      'input: expected a text that is not empty, or 1 to 2048 of them, found nothing.',
    ],
    [{ input: '' }, 'input', 'invalid_value', 'found "".'],
    [{ input: [] }, 'input', 'invalid_value', 'found a list of 0.'],
    [{ input: ['a', ''] }, 'input', 'invalid_value', 'found a list of 2.'],
    [
      { input: [1, 2] },
      'input',
      'unsupported_parameter',
      'token ids are not taken, since models differ in them. Send texts.',
    ],
    [{ input: [[1, 2]] }, 'input', 'unsupported_parameter', 'token ids are not taken'],
    [
      { input: 'a', dimensions: 3 },
      'dimensions',
      'unsupported_parameter',
      'vectors of this model have 2 numbers and cannot be shortened.',
    ],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format', 'invalid_value', 'one of float, base64'],
    [{ input: 'a', model: 'other' }, 'model', 'model_not_found', 'There is no model "other" here'],
    [{ input: 'a', pooling: 'last' }, 'pooling', 'unsupported_parameter', 'there is no such parameter here.'],
  ])('%j is refused, naming %s', async (body, param, code, message) => {
    const { post } = createTestApp()
    expect(await errorOf(await post(PATH, body))).toMatchObject({
      param,
      code,
      message: expect.stringContaining(message),
    })
  })
})
