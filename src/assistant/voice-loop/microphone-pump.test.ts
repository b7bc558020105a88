import { expect, test } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import { FakeClock } from './fake-clock.case.ts'
import { MicrophonePump } from './microphone-pump.ts'

test('who refused the microphone is not asked again', async () => {
  const clock = new FakeClock()
  let openings = 0
  const gone: unknown[] = []
  const pump = new MicrophonePump({
    microphone: {
      name: 'default',
      kind: 'device',
      // biome-ignore lint/correctness/useYield: it is refused before it gives anything
      async *open(): AsyncGenerator<Float32Array> {
        openings++
        throw new EngineError('audio/not-allowed', { message: 'This page may not use the microphone.' })
      },
    },
    clock,
    onOpened: () => {},
    onClosed: () => {},
    onSamples: () => undefined,
    onGone: (error) => gone.push(error),
  })
  pump.open()
  const ended = expect(pump.run()).rejects.toMatchObject({ code: 'audio/not-allowed' })
  await clock.moveTo(10_000)
  await ended
  expect([openings, gone]).toEqual([1, []])
})
