import { expect, it } from 'vitest'
import { createSpeechSlot } from './speech-slot.ts'

function setUp() {
  const log: string[] = []
  let chosen: string | undefined
  let failure: Error | undefined
  const slot = createSpeechSlot({
    chosen: () => chosen,
    load: async (name) => {
      log.push(`load ${name}`)
      if (failure) throw failure
      return { name, dispose: async () => void log.push(`dispose ${name}`) }
    },
    onFailed: (name, error) => log.push(`${name}: ${(error as Error).message}`),
  })
  return {
    slot,
    log,
    choose: (name: string | undefined) => {
      chosen = name
    },
    fail: (error: Error | undefined) => {
      failure = error
    },
  }
}

it('loads what is chosen once, and gives it back for another', async () => {
  const { slot, log, choose } = setUp()
  expect(await slot.get()).toBeUndefined()
  choose('whisper-tiny')
  const [first, same] = await Promise.all([slot.get(), slot.get()])
  expect([first?.name, same]).toEqual(['whisper-tiny', first])
  choose('whisper-base')
  expect((await slot.get())?.name).toBe('whisper-base')
  choose(undefined)
  expect(await slot.get()).toBeUndefined()
  expect(log).toEqual([
    'load whisper-tiny',
    'dispose whisper-tiny',
    'load whisper-base',
    'dispose whisper-base',
  ])
})

it('is without one when it fails, and tries again when it is wanted again', async () => {
  const { slot, log, choose, fail } = setUp()
  choose('whisper-tiny')
  fail(new Error('config.json is gone'))
  expect(await slot.get()).toBeUndefined()
  fail(undefined)
  expect((await slot.get())?.name).toBe('whisper-tiny')
  expect(log).toEqual(['load whisper-tiny', 'whisper-tiny: config.json is gone', 'load whisper-tiny'])
})

it('loads again after its worker was lost', async () => {
  const { slot, log, choose } = setUp()
  choose('whisper-tiny')
  await slot.get()
  slot.forget()
  await slot.get()
  expect(log).toEqual(['load whisper-tiny', 'load whisper-tiny'])
})
