import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodePcm } from '../../../audio/encode-wav.ts'
import type { AudioClip } from '../../../speech/types.ts'
import { createAudioPlayer } from './audio-player.ts'
import { FakePrograms } from './fake-programs.case.ts'

let programs: FakePrograms
beforeEach(() => {
  programs = new FakePrograms()
})
afterEach(() => programs.remove())

const importNothing = async (): Promise<undefined> => undefined

/** A clip whose samples all have one value. */
function clip(ms: number, value: number, sampleRate = 8000): AudioClip {
  return { samples: new Float32Array((ms * sampleRate) / 1000).fill(value), sampleRate }
}

function bytesOf(...clips: AudioClip[]): number[] {
  return clips.flatMap(({ samples }) => [...encodePcm(samples, 's16le')])
}

const createPlayer = (platform: NodeJS.Platform = 'linux') =>
  createAudioPlayer({ host: programs.host(platform), importPackage: importNothing })

const NOTE = 'note(input)'

describe.skipIf(process.platform === 'win32')('a program that reads a pipe', () => {
  test('plays one clip right after the other, in one stream', async () => {
    programs.add('aplay', NOTE)
    const player = await createPlayer()
    const clips = [clip(300, 0.1), clip(300, 0.2), clip(50, 0.3)]
    const log: string[] = []
    await Promise.all(
      clips.map((one, index) =>
        player
          .play(one, { onStarted: () => log.push(`start ${index}`) })
          .then(() => log.push(`end ${index}`)),
      ),
    )
    const notes = programs.notes('aplay')
    expect(notes).toHaveLength(1)
    expect(notes[0]?.bytes).toEqual(bytesOf(...clips))
    expect(notes[0]?.args).toContain('8000')
    expect(log.indexOf('end 0')).toBeGreaterThan(log.indexOf('start 0'))
    expect(log.filter((line) => line.startsWith('start'))).toEqual(['start 0', 'start 1', 'start 2'])
    expect(log.filter((line) => line.startsWith('end'))).toEqual(['end 0', 'end 1', 'end 2'])
  })

  test('a clip has been played when the program has ended', async () => {
    programs.add('aplay', `setTimeout(() => ${NOTE}, 300)`)
    const player = await createPlayer()
    await player.play(clip(20, 0.1))
    expect(programs.notes('aplay')).toHaveLength(1)
  })

  test('another rate is another stream', async () => {
    programs.add('aplay', NOTE)
    const player = await createPlayer()
    await Promise.all([player.play(clip(30, 0.1)), player.play(clip(30, 0.2, 16_000))])
    expect(programs.notes('aplay').map(({ bytes }) => bytes)).toEqual([
      bytesOf(clip(30, 0.1)),
      bytesOf(clip(30, 0.2, 16_000)),
    ])
  })

  test('what is aborted before it sounds never reaches the program', async () => {
    programs.add('aplay', NOTE)
    const player = await createPlayer()
    const controller = new AbortController()
    const first = player.play(clip(700, 0.1))
    const second = player.play(clip(100, 0.2), { signal: controller.signal })
    const third = player.play(clip(100, 0.3))
    controller.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    await Promise.all([first, third])
    expect(programs.notes('aplay').map(({ bytes }) => bytes)).toEqual([
      bytesOf(clip(700, 0.1), clip(100, 0.3)),
    ])
    await expect(player.play(clip(1, 0), { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  test('what is aborted while it sounds ends with its program; what waited is played by another', async () => {
    programs.add('aplay', NOTE, "note('begun')")
    const player = await createPlayer()
    const controller = new AbortController()
    let onStarted = () => {}
    const started = new Promise<void>((resolve) => (onStarted = resolve))
    const first = player.play(clip(60_000, 0.1), { signal: controller.signal, onStarted })
    const second = player.play(clip(50, 0.2))
    while (programs.notes('aplay').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await started
    expect(player.level?.()).toBeCloseTo(0.1, 2)
    controller.abort()
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    await second
    const [begun, again, played] = programs.notes('aplay')
    expect([begun?.input, again?.input]).toEqual(['begun', 'begun'])
    expect(played?.bytes).toEqual(bytesOf(clip(50, 0.2)))
    if (begun) await programs.untilGone(begun)
    expect(player.level?.()).toBe(0)
  })

  test('a program without a device says so', async () => {
    programs.add('aplay', '', "process.stderr.write('audio open error: No such device'); process.exit(1)")
    const player = await createPlayer()
    await expect(player.play(clip(5000, 0.1))).rejects.toMatchObject({
      code: 'audio/program-failed',
      message: /No such device$/,
    })
  })

  test('disposing ends what plays and what waits', async () => {
    programs.add('aplay', NOTE)
    const player = await createPlayer()
    const playing = [player.play(clip(60_000, 0.1)), player.play(clip(100, 0.2))]
    const ends = Promise.allSettled(playing)
    await player.dispose()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

describe.skipIf(process.platform === 'win32')('a program that takes files', () => {
  test.each([
    ['darwin', 'afplay', 'args[0]'],
    ['win32', 'powershell.exe', 'ONSIGHT_WAVE'],
  ] as const)('%s', async (platform, name, path) => {
    programs.add(name, `note(JSON.stringify({ path: ${path}, bytes: [...readFileSync(${path})] }))`)
    const player = await createPlayer(platform)
    const log: string[] = []
    await Promise.all([
      player.play(clip(20, 0.5), { onStarted: () => log.push('first') }),
      player.play(clip(20, 0.25), { onStarted: () => log.push('second') }),
    ])
    const notes = programs
      .notes(name)
      .map(({ input }) => JSON.parse(input) as { path: string; bytes: number[] })
    expect(notes.map(({ bytes }) => bytes.slice(44))).toEqual([
      bytesOf(clip(20, 0.5)),
      bytesOf(clip(20, 0.25)),
    ])
    await player.dispose()
    expect(notes.map(({ path }) => existsSync(path))).toEqual([false, false])
    expect(log).toEqual(['first', 'second'])
  })

  test('aborting ends the program, and what waits never begins', async () => {
    programs.add('afplay', 'setTimeout(() => {}, 60000)', "note('')")
    const player = await createPlayer('darwin')
    const controller = new AbortController()
    const playing = [clip(20, 0.1), clip(20, 0.2)].map((one) =>
      player.play(one, { signal: controller.signal }),
    )
    const ends = Promise.allSettled(playing)
    while (programs.notes('afplay').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    controller.abort()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await player.dispose()
    const notes = programs.notes('afplay')
    expect(notes).toHaveLength(1)
    if (notes[0]) await programs.untilGone(notes[0])
  })
})

describe('the package audio-io', () => {
  /** A device that takes samples when the test says so. */
  class FakeDevice {
    readonly rates: number[] = []
    open = 0
    ask: (length: number) => number[] = () => []

    readonly createAudioOutput = async (
      { sampleRate }: { sampleRate: number },
      handler: (buffer: Int16Array) => void,
    ): Promise<{ dispose(): Promise<void> }> => {
      this.rates.push(sampleRate)
      this.open++
      this.ask = (length) => {
        const buffer = new Int16Array(length)
        handler(buffer)
        return [...buffer]
      }
      return {
        dispose: async () => {
          this.open--
        },
      }
    }
  }

  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))
  const createDevicePlayer = (device: FakeDevice) => createAudioPlayer({ importPackage: async () => device })

  test('is asked first, and gets samples without gaps', async () => {
    const device = new FakeDevice()
    const player = await createDevicePlayer(device)
    const log: string[] = []
    const one = player
      .play(clip(1, 0.5), { onStarted: () => log.push('one') })
      .then(() => log.push('end of one'))
    const two = player
      .play(clip(1, 0.25), { onStarted: () => log.push('two') })
      .then(() => log.push('end of two'))
    await settle()
    expect(device.ask(6)).toEqual([16_384, 16_384, 16_384, 16_384, 16_384, 16_384])
    expect(player.level?.()).toBeCloseTo(0.5)
    expect(device.ask(6)).toEqual([16_384, 16_384, 8192, 8192, 8192, 8192])
    expect(device.ask(6)).toEqual([8192, 8192, 8192, 8192, 0, 0])
    await Promise.all([one, two])
    expect(log).toEqual(['one', 'two', 'end of one', 'end of two'])
    expect(player.level?.()).toBe(0)
    await player.dispose()
    expect(device.open).toBe(0)
  })

  test('opens again for another rate, and drops what is aborted', async () => {
    const device = new FakeDevice()
    const player = await createDevicePlayer(device)
    const controller = new AbortController()
    const long = player.play(clip(1000, 0.5), { signal: controller.signal })
    const other = player.play(clip(1, 0.25, 16_000))
    await settle()
    expect(device.ask(2)).toEqual([16_384, 16_384])
    controller.abort()
    await expect(long).rejects.toMatchObject({ name: 'AbortError' })
    await settle()
    expect(device.ask(17)).toEqual([...new Array(16).fill(8192), 0])
    await other
    expect(device.rates).toEqual([8000, 16_000])
    expect(device.open).toBe(1)
    await player.dispose()
  })

  test('a device that cannot be opened is told', async () => {
    const player = await createAudioPlayer({
      importPackage: async () => ({
        createAudioOutput: async () => {
          throw new Error('no card')
        },
      }),
    })
    await expect(player.play(clip(10, 0.1))).rejects.toThrow('no card')
  })
})

test('no player: what to install is named', async () => {
  await expect(createPlayer()).rejects.toMatchObject({
    code: 'audio/no-player',
    hint: expect.stringContaining('@echogarden/audio-io'),
  })
})
