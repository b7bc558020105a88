import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnswerFinished, ChatEvent, ImageInput } from '../../src/engine/types.ts'
import { connectRemote, createRoutedModel } from '../../src/entry/assistant.node.ts'
import { bundledModelPath, loadModel } from '../../src/entry/index.node.ts'
import { type RunningServer, startServer } from '../../src/entry/server.ts'
import { createFakeModel } from '../../src/testing/fake-model.ts'

const DEMO = fileURLToPath(new URL('../../models/demo.png', import.meta.url))

let server: RunningServer
const fake = createFakeModel()

beforeAll(async () => {
  server = await startServer({
    port: 0,
    models: { tiny: await loadModel(bundledModelPath()), fake },
    apiKey: 'key-1',
  })
})
afterAll(() => server.stop())

const connect = (model: string, apiKey = 'key-1') => connectRemote({ url: `${server.url}/v1`, model, apiKey })

async function finish(events: AsyncIterable<ChatEvent>): Promise<AnswerFinished> {
  let finished: AnswerFinished | undefined
  for await (const event of events) if (event.type === 'answer-finished') finished = event
  return finished as AnswerFinished
}

describe('a remote model that is our own server', () => {
  it('sees the picture and answers as the same model does here', async () => {
    const question = { text: 'What is in the picture?', images: [DEMO] }
    const local = await loadModel(bundledModelPath())
    const here = await finish(local.chat().send(question, { maxTokens: 20 }))
    const there = await finish(connect('tiny').chat().send(question, { maxTokens: 20 }))
    await local.dispose()
    expect(there.text).toBe(here.text)
    expect(there.finishReason).toBe('stop')
    expect(there.usage).toMatchObject({ promptTokens: here.usage.promptTokens })
    expect(there.answeredBy).toEqual({ route: 'remote', model: 'tiny', host: new URL(server.url).host })
  })

  it('gets pictures upright, scaled down, and without what the camera wrote', async () => {
    const photo = await sharp({ create: { width: 3000, height: 1000, channels: 3, background: '#c00' } })
      .jpeg()
      .withExif({ IFD0: { Copyright: 'somebody' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const answer = await finish(
      connect('fake')
        .chat()
        .send({ text: 'x', images: [new Uint8Array(photo)] }),
    )
    expect(answer.images).toMatchObject([
      { width: 1000, height: 3000, usedWidth: 683, usedHeight: 2048, orientation: 6 },
    ])
    const [sent] = fake.questions.at(-1)!.message.images as ImageInput[]
    const bytes = Buffer.from(await (sent as Blob).arrayBuffer())
    const metadata = await sharp(bytes).metadata()
    expect(metadata).toMatchObject({ format: 'jpeg', width: 683, height: 2048 })
    expect([metadata.exif, metadata.icc, metadata.xmp, metadata.orientation]).toEqual(
      Array(4).fill(undefined),
    )
    expect(bytes.includes('somebody')).toBe(false)
  })

  it('says which key is wrong', async () => {
    await expect(finish(connect('fake', 'other').chat().send({ text: 'x' }))).rejects.toMatchObject({
      code: 'remote/not-allowed',
    })
  })

  it('is one end of a route', async () => {
    const routed = createRoutedModel({
      choice: 'auto',
      prefer: 'remote',
      remote: connect('fake'),
      local: createFakeModel({ name: 'near' }),
      consent: () => true,
    })
    const answer = await finish(routed.chat().send({ text: 'x' }))
    expect(answer).toMatchObject({ text: 'A fox.', answeredBy: { route: 'remote' } })
  })
})
