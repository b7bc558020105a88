import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodePcm, encodeWav, encodeWavHeader } from '../../../audio/encode-wav.ts'
import type { Microphone } from '../../../speech/types.ts'
import { createScratchFolder } from '../scratch-folder.ts'
import { createPipedMicrophone, createRecording } from './recording.ts'

/** 100 ms of a level, at 16 kHz. */
const tone = (level: number, ms = 100, rate = 16_000): Float32Array =>
  new Float32Array((ms * rate) / 1000).fill(level)

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function listen(microphone: Microphone, most = Number.POSITIVE_INFINITY): Promise<Float32Array[]> {
  const controller = new AbortController()
  const found: Float32Array[] = []
  for await (const frame of microphone.open(controller.signal)) {
    found.push(frame)
    if (found.length >= most) controller.abort()
  }
  return found
}

test('a file is heard in frames of 16 kHz, whatever its rate', async () => {
  const scratch = await createScratchFolder()
  const path = scratch.pathOf('question.wav')
  writeFileSync(path, encodeWav({ samples: tone(0.25, 320, 48_000), sampleRate: 48_000 }))
  const recording = createRecording(path)
  expect(recording).toMatchObject({ name: path, kind: 'recording' })
  const heard = await listen(recording)
  expect(heard.map(({ length }) => length)).toEqual(new Array(10).fill(512))
  expect(heard[5]?.[0]).toBeCloseTo(0.25, 3)
  await scratch.dispose()
  await expect(listen(createRecording(join(path, 'gone')))).rejects.toMatchObject({
    code: expect.stringMatching(/^file/),
  })
})

test('a WAV file in a pipe waits while nobody listens', async () => {
  const file = encodeWav({ samples: tone(0.5, 320), sampleRate: 16_000 })
  const microphone = await createPipedMicrophone(pieces(file, 3))
  expect(microphone.kind).toBe('recording')
  const first = await listen(microphone, 4)
  const rest = await listen(microphone)
  expect(first.length + rest.length).toBe(10)
  expect(rest[0]?.[0]).toBe(0.5)
})

test('samples without a header, or with one that knows no length, are a microphone', async () => {
  const samples = encodePcm(tone(0.5, 320), 's16le')
  const header = encodeWavHeader(16_000, 's16le', undefined)
  for (const bytes of [samples, new Uint8Array([...header, ...samples])]) {
    const microphone = await createPipedMicrophone(pieces(bytes, 777))
    expect(microphone.kind).toBe('stream')
    const heard = await listen(microphone)
    expect(heard.length).toBeGreaterThan(0)
    expect(heard[0]?.[0]).toBe(0.5)
  }
})

test('what a microphone hears while nobody listens is gone', async () => {
  let send: (level: number) => Promise<void> = async () => {}
  async function* live(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const level = await new Promise<number>((resolve) => {
        send = async (value) => {
          resolve(value)
          await new Promise((done) => setTimeout(done, 5))
        }
      })
      yield encodePcm(tone(level, 32), 's16le')
    }
  }
  const made = createPipedMicrophone(live())
  await new Promise((resolve) => setTimeout(resolve, 5))
  await send(0.125)
  const microphone = await made
  await send(0.25)
  const heard = listen(microphone, 1)
  await send(0.5)
  expect((await heard)[0]?.[0]).toBe(0.5)
  await send(0.75)
  const later = listen(microphone, 1)
  await send(0.875)
  expect((await later)[0]?.[0]).toBe(0.875)
})

test('an empty pipe is over at once, and a broken file says so', async () => {
  expect(await listen(await createPipedMicrophone(pieces(new Uint8Array(0), 1)))).toEqual([])
  const broken = new Uint8Array(100)
  broken.set(new TextEncoder().encode('RIFF'))
  broken[4] = 92
  await expect(listen(await createPipedMicrophone(pieces(broken, 10)))).rejects.toMatchObject({
    code: expect.stringMatching(/^audio/),
  })
})
