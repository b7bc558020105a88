import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TranscriptFinished } from '../speech/types.ts'
import { type FakeSettings, runFake } from './fake-context.case.ts'

const HEARD: TranscriptFinished = {
  type: 'transcript-finished',
  text: 'What is that?',
  language: 'en',
  languageProbability: 1,
  segments: [],
  finishReason: 'stop',
  duration: 1,
  timings: { totalMs: 1, encodeMs: 1, decodeMs: 0 },
}

const talk = (args: readonly string[], settings: FakeSettings = {}) =>
  runFake(['talk', '--input', 'question.wav', '--recognizer', 'whisper', ...args], {
    transcript: [HEARD],
    ...settings,
  })

test('a spoken question is answered aloud, with states in words', async () => {
  const { exitCode, stdout, stderr, calls } = await talk(['--voice', 'Ada', '--rate', '1.2'])
  expect(exitCode).toBe(0)
  expect(calls.sent.map(({ message }) => message)).toEqual([{ text: 'What is that?' }])
  expect(calls.said).toMatchObject([{ text: 'A fox.', voice: 'Ada', options: { rate: 1.2 } }])
  expect(stdout).toBe('A fox.\n')
  const lines = stderr.split('\n')
  for (const line of ['Thinking.', 'You: What is that?', 'Speaking.']) expect(lines).toContain(line)
  expect(calls.transcripts[0]?.options.language).toBe('auto')
})

test('mute prints whole sentences and says nothing', async () => {
  const { stdout, calls } = await talk(['--mute'], { answers: [{ pieces: ['A **fo', 'x**. It', ' runs.'] }] })
  expect(stdout).toBe('A fox.\nIt runs.\n')
  expect(calls.said).toEqual([])
})

test('the newest picture of the camera goes with the question', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'onsight-talk-'))
  try {
    for (const [name, time] of [
      ['old.jpg', 1],
      ['new.jpg', 3],
      ['notes.txt', 9],
    ] as const) {
      writeFileSync(join(folder, name), '')
      utimesSync(join(folder, name), time, time)
    }
    const { calls } = await talk(['--camera-folder', folder])
    expect(calls.sent[0]?.message.images).toEqual([join(folder, 'new.jpg')])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('Chinese where the locale is', async () => {
  const { stderr } = await talk([], { env: { LANG: 'zh_CN.UTF-8' } })
  expect(stderr).toContain('您：What is that?')
})

test('events as JSON', async () => {
  const { stdout } = await talk(['--json'])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type)
  expect(events).toEqual(expect.arrayContaining(['question-heard', 'text-delta', 'answer-finished']))
})

test('a picture on standard input is refused', async () => {
  expect((await talk(['-'])).exitCode).toBe(2)
})
