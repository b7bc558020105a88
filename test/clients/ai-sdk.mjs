// The Vercel AI SDK against a running `onsight serve` with the bundled model. Needs Node 22 or later:
//   npm ci && node ai-sdk.mjs http://127.0.0.1:8321
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embed, generateText, jsonSchema, Output, streamText } from 'ai'

const baseURL = `${process.argv[2] ?? 'http://127.0.0.1:8321'}/v1`
const cases = new URL('../golden/tiny-cases/', import.meta.url)
const [first] = readFileSync(new URL('cases.jsonl', cases), 'utf8').split('\n')
const { picture, turns } = JSON.parse(first ?? '')
const [{ ask, says }, next] = turns
const question = {
  role: 'user',
  content: [
    { type: 'text', text: ask },
    { type: 'file', mediaType: 'image/png', data: readFileSync(new URL(picture, cases)) },
  ],
}

const schema = jsonSchema({
  type: 'object',
  properties: { name: { type: 'string', maxLength: 20 }, count: { type: 'integer', minimum: 0, maximum: 9 } },
  required: ['name', 'count'],
  additionalProperties: false,
})
const compatible = createOpenAICompatible({
  name: 'onsight',
  baseURL,
  includeUsage: true,
  supportsStructuredOutputs: true,
})

for (const [name, model] of [
  ['openai-compatible', compatible('tiny')],
  ['openai, chat', createOpenAI({ baseURL, apiKey: 'none' }).chat('tiny')],
  ['openai, responses', createOpenAI({ baseURL, apiKey: 'none' })('tiny')],
]) {
  const whole = await generateText({ model, messages: [question], maxRetries: 0 })
  assert.equal(whole.text, says)
  assert.equal(whole.finishReason, 'stop')
  assert.ok(whole.usage.inputTokens > 0)

  const stream = streamText({
    model,
    messages: [question, { role: 'assistant', content: says }, { role: 'user', content: next.ask }],
    maxRetries: 0,
  })
  let text = ''
  for await (const piece of stream.textStream) text += piece
  assert.equal(text, next.says)
  assert.equal(await stream.finishReason, 'stop')
  const { inputTokenDetails } = await stream.usage
  assert.ok(inputTokenDetails.cacheReadTokens > 0)

  const structured = await generateText({
    model,
    messages: [question],
    output: Output.object({ schema }),
    maxRetries: 0,
  })
  assert.ok(structured.output.name.length <= 20 && Number.isInteger(structured.output.count))

  await assert.rejects(
    generateText({ model, messages: [{ role: 'user', content: 'word '.repeat(20_000) }], maxRetries: 0 }),
    { statusCode: 400, isRetryable: false },
  )
  console.log(
    `${name}: answer, stream with reuse (${inputTokenDetails.cacheReadTokens} tokens known), structure, error`,
  )
}

const { embedding, usage } = await embed({ model: compatible.embeddingModel('tiny'), value: 'A cat.' })
assert.ok(embedding.length > 8 && usage.tokens > 0)
console.log('openai-compatible: embedding')
