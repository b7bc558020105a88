import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseWav } from '../audio/wav-decoder.ts'
import { runFake } from './fake-context.case.ts'

test('text is said sentence by sentence, without its markup', async () => {
  const { exitCode, calls, stdout } = await runFake([
    'say',
    '**There** is a dog. It is [brown](x)!',
    '--rate',
    '1.5',
  ])
  expect(exitCode).toBe(0)
  expect(calls.said).toMatchObject([
    { text: 'There is a dog.', voice: 'platform', options: { rate: 1.5 } },
    { text: 'It is brown!', voice: 'platform' },
  ])
  expect(stdout).toBe('')
  expect(calls.disposed).toBe(1)
})

test('standard input is said as it comes', async () => {
  const { calls } = await runFake(['say', '--voice', 'Ada'], { input: 'One thing.\nAnother' })
  expect(calls.said.map(({ text, voice }) => [text, voice])).toEqual([
    ['One thing.', 'Ada'],
    ['Another', 'Ada'],
  ])
})

test('a file gets the sound instead, also of a voice model', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'onsight-say-'))
  try {
    const out = join(folder, 'answer.wav')
    const { exitCode, calls } = await runFake(['say', 'One. Two.', '--out', out, '--voice', 'voice.onnx'])
    expect(exitCode).toBe(0)
    expect(calls.said.map(({ text, voice }) => [text, voice])).toEqual([
      ['One.', 'voice.onnx'],
      ['Two.', 'voice.onnx'],
    ])
    const clip = parseWav(readFileSync(out), out)
    expect([clip.sampleRate, clip.samples.length, clip.samples[0]]).toEqual([8000, 8, 0.5])
    const failed = await runFake(['say', 'One.', '--out', join(folder, 'gone', 'a.wav')])
    expect(failed.stderr).toMatch(/could not be written \(ENOENT\)/)
    expect(failed.exitCode).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('voices are listed', async () => {
  expect((await runFake(['say', '--list-voices'])).stdout).toBe('Ada\ten-GB\n')
})

test('nothing to say is wrong usage at a terminal', async () => {
  const { exitCode, stderr } = await runFake(['say'], { isTerminal: true })
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/expected text, found none/)
})

test.each([
  ['--rate', '9'],
  ['--pitch', '0'],
])('%s %s is refused', async (option, value) => {
  expect((await runFake(['say', 'x', option, value])).exitCode).toBe(2)
})
