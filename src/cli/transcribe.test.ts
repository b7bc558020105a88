import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { encodePcm, encodeWavHeader } from '../audio/encode-wav.ts'
import type { TranscriptEvent, TranscriptFinished } from '../speech/types.ts'
import { type FakeSettings, runFake } from './fake-context.case.ts'

const SEGMENTS = [
  { start: 0.5, end: 2.25, text: 'Hello there.' },
  { start: 3661.2, end: 3663, text: 'Is A <-- B & C --> D?' },
]
const FINISHED: TranscriptFinished = {
  type: 'transcript-finished',
  text: SEGMENTS.map(({ text }) => text).join(' '),
  language: 'en',
  languageProbability: 0.953,
  segments: SEGMENTS,
  finishReason: 'stop',
  duration: 3663,
  timings: { totalMs: 366_300, encodeMs: 1, decodeMs: 2 },
}
const TRANSCRIPT: TranscriptEvent[] = [
  { type: 'partial-changed', text: 'Hello' },
  ...SEGMENTS.map((segment): TranscriptEvent => ({ type: 'segment-finished', segment })),
  FINISHED,
]
const CLIP = goldenPath('speech/en1.wav')

function run(args: string, settings: FakeSettings = {}) {
  return runFake(['transcribe', ...args.split(' ')], { transcript: TRANSCRIPT, ...settings })
}

describe('transcribe', () => {
  it('prints text, and says on a terminal what was heard', async () => {
    const { exitCode, stdout, stderr, calls } = await run(`${CLIP} --model m`, { isTerminal: true })
    expect(exitCode).toBe(0)
    expect(stdout).toBe('Hello there.\nIs A <-- B & C --> D?\n')
    expect(stderr).toContain('en (95 % sure), 61 min of sound, 10.0 times as fast as it was spoken')
    expect(calls.loads[0]?.reference).toBe('m')
    expect(calls.transcripts[0]?.options).toMatchObject({ language: 'auto', timestamps: false })
    expect(calls.disposed).toBe(1)
  })

  it('prints times, subtitles, JSON', async () => {
    expect((await run(`${CLIP} --model m --timestamps`)).stdout).toBe(
      '[00:00.500 → 00:02.250] Hello there.\n[01:01:01.200 → 01:01:03.000] Is A <-- B & C --> D?\n',
    )
    expect((await run(`${CLIP} --model m --subtitles srt`)).stdout).toBe(
      '1\n00:00:00,500 --> 00:00:02,250\nHello there.\n\n2\n01:01:01,200 --> 01:01:03,000\nIs A <-- B & C --> D?\n\n',
    )
    const vtt = await run(`${CLIP} --model m --subtitles vtt`)
    expect(vtt.stdout).toBe(
      'WEBVTT\n\n00:00:00.500 --> 00:00:02.250\nHello there.\n\n01:01:01.200 --> 01:01:03.000\nIs A &lt;-- B &amp; C → D?\n\n',
    )
    expect(vtt.calls.transcripts[0]?.options.timestamps).toBe(true)
    const { type: _, ...transcript } = FINISHED
    expect(JSON.parse((await run(`${CLIP} --model m --json`)).stdout)).toEqual(transcript)
  })

  it('hands on language, context, precision and threads', async () => {
    const { calls } = await run(
      `${CLIP} --model m --language zh-Hant --context Onsight --precision f32 --threads 3`,
    )
    expect(calls.transcripts[0]?.options).toMatchObject({ language: 'zh-Hant', context: 'Onsight' })
    expect(calls.loads[0]?.options).toMatchObject({ precision: 'f32', threads: 3 })
  })

  it('reads WAV and raw samples from standard input', async () => {
    const samples = Float32Array.of(0.5, -0.25, 0.125, 0.0625, 0, -1)
    const raw = encodePcm(samples, 'f32le')
    const wav = Buffer.concat([encodeWavHeader(16_000, 's16le', 6), encodePcm(samples, 's16le')])
    const heard = async (bytes: Uint8Array, args = ''): Promise<unknown> => {
      const { calls } = await runFake(
        ['transcribe', '-', '--model', 'm', ...args.split(' ').filter(Boolean)],
        { transcript: TRANSCRIPT },
        (_, stdin) => stdin.end(bytes),
      )
      return calls.transcripts[0]?.samples
    }
    expect(await heard(raw, '--encoding f32le')).toEqual([...samples])
    expect(await heard(wav)).toEqual([...samples])
    expect(await heard(new Uint8Array(0))).toEqual([])
  })

  it('says when nobody speaks', async () => {
    const { stdout, stderr, exitCode } = await run(`${CLIP} --model m`, {
      transcript: [{ ...FINISHED, text: '', segments: [] }],
    })
    expect([exitCode, stdout, stderr]).toEqual([0, '', 'Nobody speaks in this recording.\n'])
  })

  it('looks for the recording before it loads a model', async () => {
    const { exitCode, stderr, calls } = await run('no-such.wav --model m')
    expect([exitCode, calls.loads.length]).toEqual([1, 0])
    expect(stderr).toContain('no-such.wav: no such file.')
  })

  it('says how to get a model when none was pulled', async () => {
    const { exitCode, stderr } = await run(CLIP, { env: { ONSIGHT_HOME: '/nonexistent/onsight' } })
    expect(exitCode).toBe(4)
    expect(stderr).toContain('There is no model that recognises speech on this machine.')
    expect(stderr).toContain('onsight pull whisper-base')
  })
})
