import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakePrograms } from './fake-programs.case.ts'
import { frames } from './frames.ts'
import { findMicrophone } from './microphone.ts'

let programs: FakePrograms
beforeEach(() => {
  programs = new FakePrograms()
})
afterEach(() => programs.remove())

const importNothing = async (): Promise<undefined> => undefined
const find = (platform: NodeJS.Platform, device?: string) =>
  findMicrophone({
    host: programs.host(platform),
    importPackage: importNothing,
    ...(device !== undefined && { device }),
  })

describe.skipIf(process.platform === 'win32')('a program that records', () => {
  test('gives frames of 512 samples until it is closed', async () => {
    // 16 384 is half of full scale.
    programs.add(
      'arecord',
      '',
      "note(''); const some = Buffer.alloc(3000); for (let i = 0; i < 3000; i += 2) some.writeInt16LE(16384, i); setInterval(() => process.stdout.write(some), 5)",
    )
    const microphone = await find('linux', 'hw:1')
    expect(microphone).toMatchObject({ name: 'hw:1', kind: 'device' })
    const controller = new AbortController()
    const heard: Float32Array[] = []
    for await (const frame of microphone.open(controller.signal)) {
      heard.push(frame)
      if (heard.length === 4) controller.abort()
    }
    expect(heard.slice(0, 4).map((frame) => [frame.length, frame[0], frame.at(-1)])).toEqual(
      new Array(4).fill([512, 0.5, 0.5]),
    )
    const [note] = programs.notes('arecord')
    expect(note?.args).toEqual(expect.arrayContaining(['16000', 'S16_LE', '-D', 'hw:1']))
    if (note) await programs.untilGone(note)
  })

  test('says why it ended by itself', async () => {
    programs.add('arecord', '', "process.stderr.write('device disconnected'); process.exit(1)")
    const microphone = await find('linux')
    const read = async (): Promise<void> => {
      for await (const _ of microphone.open(new AbortController().signal));
    }
    await expect(read()).rejects.toMatchObject({
      code: 'audio/program-failed',
      message: /device disconnected$/,
    })
  })

  test('is what the system has', async () => {
    programs.add('ffmpeg', '', "note(''); process.exit(0)")
    const read = async (platform: NodeJS.Platform, device?: string): Promise<void> => {
      const microphone = await find(platform, device)
      for await (const _ of microphone.open(new AbortController().signal));
    }
    await expect(read('darwin')).rejects.toThrow(/ended with code 0/)
    programs.add('ffmpeg.exe', '', "note(''); process.exit(0)")
    await expect(read('win32', 'Headset')).rejects.toThrow()
    expect(programs.notes('ffmpeg').flatMap(({ args }) => args)).toEqual(
      expect.arrayContaining(['avfoundation', ':default', 'dshow', 'audio=Headset']),
    )
  })
})

test('no recorder: what to install is named', async () => {
  await expect(find('linux')).rejects.toMatchObject({
    code: 'audio/no-recorder',
    hint: expect.stringContaining('@picovoice/pvrecorder-node'),
  })
})

describe('the package pvrecorder', () => {
  class PvRecorder {
    static readonly log: string[] = []
    readonly index: number

    constructor(frameLength: number, index = -1) {
      this.index = index
      PvRecorder.log.push(`new ${frameLength} ${index}`)
    }

    static getAvailableDevices(): string[] {
      return ['Built-in', 'Headset']
    }

    start(): void {
      PvRecorder.log.push('start')
    }

    stop(): void {
      PvRecorder.log.push('stop')
    }

    release(): void {
      PvRecorder.log.push('release')
    }

    async read(): Promise<Int16Array> {
      return new Int16Array(512).fill(-8192)
    }
  }

  test('is asked first, and let go', async () => {
    const microphone = await findMicrophone({
      importPackage: async () => ({ PvRecorder }),
      device: 'Headset',
    })
    const controller = new AbortController()
    for await (const frame of microphone.open(controller.signal)) {
      expect([frame.length, frame[0]]).toEqual([512, -0.25])
      controller.abort()
    }
    expect(PvRecorder.log).toEqual(['new 512 1', 'start', 'stop', 'release'])
  })

  test('knows its devices', async () => {
    await expect(
      findMicrophone({ importPackage: async () => ({ PvRecorder }), device: 'Nothing' }),
    ).rejects.toThrow(/There is no microphone "Nothing"; there are Built-in, Headset/)
  })
})

test('frames of one length, the last one filled up', async () => {
  async function* pieces(): AsyncGenerator<Float32Array> {
    yield Float32Array.from([1, 2, 3])
    yield Float32Array.from([4, 5, 6, 7, 8, 9, 10])
  }
  const found: number[][] = []
  for await (const frame of frames(pieces(), 4)) found.push([...frame])
  expect(found).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10, 0, 0],
  ])
})
