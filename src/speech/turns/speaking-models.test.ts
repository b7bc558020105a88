import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { loadModelOn } from '../../engine/load-model.ts'
import type { AnswerFinished, ChatEvent } from '../../engine/types.ts'
import { createNodeFileHost } from '../../host/node/file-host.ts'
import { openFile } from '../../host/node/file-source.ts'
import { createImageDecoder } from '../../host/node/image-decoder.ts'
import { createSnapshotFiles } from '../../host/node/snapshot-files.ts'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import type { TranscriptFinished } from '../types.ts'
import type { Swap } from './model-turns.ts'
import { createSpeakingModels, type SpeakingModels } from './speaking-models.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const TINY = path('models/tiny')
const DEMO = path('models/demo.png')

const host = {
  workers: createNodeWorkerHost(),
  files: createNodeFileHost(),
  images: createImageDecoder(),
  snapshots: createSnapshotFiles(),
  openLetterNetwork: () => openFile(path('models/letters/model.safetensors')),
}

const all: SpeakingModels[] = []
afterEach(async () => {
  for (const models of all.splice(0)) await models.dispose()
})

async function create(memoryLimit: number, swaps: Swap[] = []): Promise<SpeakingModels> {
  const models = await createSpeakingModels(host, {
    recognizer: { reference: path('test/golden/moonshine/v1'), estimatedBytes: 8e6 },
    model: { reference: TINY, estimatedBytes: 13e6 },
    voice: { reference: path('test/golden/vits/piper'), estimatedBytes: 5e6 },
    memoryLimit,
    threads: 2,
    onSwap: (swap) => swaps.push(swap),
  })
  all.push(models)
  return models
}

async function finish(events: AsyncIterable<ChatEvent>): Promise<AnswerFinished> {
  let finished: AnswerFinished | undefined
  for await (const event of events) if (event.type === 'answer-finished') finished = event
  return finished!
}

const SOUND = {
  samples: Float32Array.from({ length: 16000 }, (_, i) => Math.sin(i / 7) * 0.3),
  sampleRate: 16000,
}
const QUESTIONS = [{ text: 'What is in the picture?', images: [DEMO] }, { text: 'What colour is it?' }]

async function holdTurn(models: SpeakingModels, question: (typeof QUESTIONS)[number]): Promise<string> {
  let heard: TranscriptFinished | undefined
  for await (const event of models.transcribe(SOUND)) if (event.type === 'transcript-finished') heard = event
  expect(heard?.finishReason).toBe('stop')
  const { text } = await finish(models.ask(question, { maxTokens: 20 }))
  let samples = 0
  for await (const piece of models.synthesize('A dad.')) samples += piece.samples.length
  expect(samples).toBeGreaterThan(1000)
  return text
}

describe('a recogniser, a model and a voice within one budget', () => {
  it('answer the same whether they stay or take turns, and remember the picture', async () => {
    const alone = await loadModelOn(host, TINY, { threads: 2 })
    const chat = alone.chat()
    const expected: string[] = []
    for (const question of QUESTIONS)
      expected.push((await finish(chat.send(question, { maxTokens: 20 }))).text)
    const needed = alone.info.allocatedBytes
    await alone.dispose()

    const swaps: Swap[] = []
    const turns = await create(Math.ceil(needed * 1.05), swaps)
    const answers: string[] = []
    for (const question of QUESTIONS) answers.push(await holdTurn(turns, question))
    expect(answers).toEqual(expected)
    expect(swaps.filter(({ part, kind }) => part === 'model' && kind === 'loaded')).toHaveLength(2)
    expect(turns.peakBytes).toBeLessThanOrEqual(needed * 1.05)
    expect(turns.speaksWhileAnswering).toBe(false)

    const stayed: Swap[] = []
    const together = await create(1e9, stayed)
    for (const [index, question] of QUESTIONS.entries()) {
      expect(await holdTurn(together, question)).toBe(expected[index])
    }
    expect(stayed.map(({ part, kind }) => `${kind} ${part}`)).toEqual([
      'loaded recognizer',
      'loaded model',
      'loaded voice',
    ])
    expect(together.speaksWhileAnswering).toBe(true)
  })

  it('end early, and go on', async () => {
    const models = await create(1e9)
    for await (const event of models.ask(QUESTIONS[0]!, { maxTokens: 20 })) {
      if (event.type === 'text-delta') break
    }
    expect((await finish(models.ask({ text: 'And?' }, { maxTokens: 3 }))).finishReason).toMatch(/stop|length/)
  })

  it('pass on what fails', async () => {
    const models = await create(1e9)
    await expect(finish(models.ask({ text: 'x', images: ['/nowhere.png'] }))).rejects.toMatchObject({
      code: expect.stringMatching(/^file\//),
    })
    await expect(create(1e6)).rejects.toMatchObject({ code: 'option/memory-limit' })
  })
})
