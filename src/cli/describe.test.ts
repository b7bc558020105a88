import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { BUNDLED_PATH, runFake } from './fake-context.case.ts'

const NOTES =
  'The bundled tiny model knows only simple pictures: icon-like objects, coloured shapes, short signs.\n' +
  'For photos name a real one: --model FOLDER or --model FILE.gguf, such as SmolVLM-500M-Instruct.\n'

let folder: string
let picture: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'describe-'))
  picture = join(folder, 'photo.jpg')
  await writeFile(picture, 'not decoded here')
})
afterAll(() => rm(folder, { recursive: true }))

describe('onsight describe', () => {
  it('asks the bundled model and says what it knows', async () => {
    const { exitCode, stdout, stderr, calls } = await runFake(['describe', picture])
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'A fox.\n', stderr: NOTES })
    expect(calls.loads[0]!.reference).toBe(BUNDLED_PATH)
    expect(calls.sent[0]!.message).toEqual({ text: 'Describe this picture.', images: [picture] })
    expect(calls.disposed).toBe(1)
  })

  it('asks in Chinese where the locale is Chinese', async () => {
    const { stderr, calls } = await runFake(['describe', picture], { env: { LANG: 'zh_CN.UTF-8' } })
    expect(calls.sent[0]!.message.text).toBe('请描述这张图片。')
    expect(stderr.split('\n')[0]).toBe('内置的小模型只认识简单的图片：图标式的物体、彩色图形和简短的牌子。')
  })

  it('says nothing about the bundled model with --quiet or when it was named', async () => {
    expect((await runFake(['describe', picture, '--quiet'])).stderr).toBe('')
    const named = await runFake(['describe', picture, '--model', 'tiny'])
    expect(named.stderr).toBe('')
    expect(named.calls.loads[0]!.reference).toBe(BUNDLED_PATH)
  })

  it('passes on every option that was given', async () => {
    const { calls, exitCode } = await runFake([
      ...[
        'describe',
        picture,
        '--model',
        './m.gguf',
        '--mmproj',
        'p.gguf',
        '--ask',
        'Who?',
        '--system',
        'Be brief.',
      ],
      ...[
        '--precision',
        'q4',
        '--kv',
        'q8',
        '--detail',
        'low',
        '--max-tokens',
        '9',
        '--temperature',
        '0.7',
        '--top-k',
        '40',
      ],
      ...[
        '--top-p',
        '.9',
        '--min-p',
        '0.05',
        '--repetition-penalty',
        '1.1',
        '--seed',
        '7',
        '--stop',
        'a',
        '--stop',
        'b',
      ],
      ...['--ignore-eos', '--threads', '3'],
    ])
    expect(exitCode).toBe(0)
    const { reference, options } = calls.loads[0]!
    const { signal, onProgress, ...given } = options
    expect({ reference, given }).toEqual({
      reference: './m.gguf',
      given: { projector: 'p.gguf', precision: 'q4', kv: 'q8', threads: 3 },
    })
    expect([signal, typeof onProgress]).toEqual([expect.any(AbortSignal), 'function'])
    expect(calls.chats).toEqual([{ system: 'Be brief.' }])
    expect(calls.sent[0]!.message.text).toBe('Who?')
    expect(calls.sent[0]!.options).toEqual({
      maxTokens: 9,
      temperature: 0.7,
      topK: 40,
      topP: 0.9,
      minP: 0.05,
      repetitionPenalty: 1.1,
      seed: 7,
      stop: ['a', 'b'],
      ignoreEos: true,
      detail: 'low',
      signal: expect.any(AbortSignal),
    })
  })

  it('leaves everything else to the model', async () => {
    const { calls } = await runFake(['describe', picture])
    expect(calls.chats).toEqual([{}])
    expect(Object.keys(calls.sent[0]!.options)).toEqual(['signal'])
    expect(Object.keys(calls.loads[0]!.options).sort()).toEqual(['onProgress', 'signal'])
  })

  it('prints one JSON object', async () => {
    const { stdout } = await runFake(['describe', picture, '--json'])
    expect(stdout.endsWith('}\n')).toBe(true)
    expect(JSON.parse(stdout)).toEqual({
      text: 'A fox.',
      tokenIds: [10, 11],
      finishReason: 'stop',
      usage: { promptTokens: 70, imageTokens: 64, cachedTokens: 0, completionTokens: 2 },
      timings: {
        loadMs: 12.35,
        imageEncodeMs: 10.01,
        prefillMs: 20,
        firstTokenMs: 31.25,
        tokensPerSecond: 40.12,
      },
      image: {
        width: 640,
        height: 480,
        usedWidth: 512,
        usedHeight: 384,
        tiles: 4,
        orientation: 6,
        cached: false,
      },
    })
  })

  it('adds all images when there are several', async () => {
    const { stdout } = await runFake(['describe', picture, picture, '--json'])
    const image = { width: 640, height: 480, usedWidth: 512, usedHeight: 384, tiles: 4, orientation: 6 }
    expect(JSON.parse(stdout)).toMatchObject({ image, images: [image, image] })
  })

  it('reads a picture from standard input', async () => {
    const { calls, exitCode } = await runFake(['describe', '-'], { input: 'bytes' })
    expect(exitCode).toBe(0)
    const [file] = calls.sent[0]!.message.images as [File]
    expect([file.name, await file.text()]).toEqual(['standard input', 'bytes'])
  })

  it('does not wait for a picture from the keyboard', async () => {
    const { exitCode, stderr } = await runFake(['describe', '-', '--no-color'], { isTerminal: true })
    expect(exitCode).toBe(2)
    expect(stderr).toBe(
      'onsight: Expected a picture on standard input, found a terminal.\n' +
        '  → Pipe a file: onsight describe - < photo.jpg\n',
    )
  })

  it('reads standard input once', async () => {
    const { exitCode, stderr } = await runFake(['describe', '-', '-'], { input: 'bytes' })
    expect([exitCode, stderr]).toEqual([
      2,
      'onsight: Expected standard input (-) as one picture, found it several times.\n',
    ])
  })

  it('finds a missing picture before it loads anything', async () => {
    const missing = join(folder, 'none.jpg')
    const { exitCode, stdout, stderr, calls } = await runFake(['describe', missing, '--json'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toBe(
      `onsight: ${missing}: no such file.\n  → Check the spelling and the current directory.\n`,
    )
    expect(calls.loads).toEqual([])
  })

  it('ends the line when an answer breaks off', async () => {
    const error = new EngineError('backend/worker-failed', { message: 'A worker died.' })
    const { exitCode, stdout, stderr } = await runFake(['describe', picture, '-q'], {
      answers: [{ pieces: ['A fo'], error }],
    })
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: 'A fo\n',
      stderr: 'onsight: A worker died.\n',
    })
  })

  it.each([
    ['length', 'Stopped after 1 tokens; --max-tokens allows more.\n'],
    ['repetition', 'Stopped because the answer repeated itself; --repetition-penalty 1.1 may help.\n'],
    ['context-full', 'Stopped because the conversation is as long as this model can follow.\n'],
    ['stop-string', ''],
  ] as const)('says why an answer ended: %s', async (finishReason, note) => {
    const answers = [{ pieces: ['A'], finishReason }]
    const { stderr } = await runFake(['describe', picture, '--model', 'm'], { answers })
    expect(stderr).toBe(note)
  })

  it('says when sampling options do nothing', async () => {
    const args = ['describe', picture, '--model', 'm', '--top-k', '5']
    const note =
      'Without --temperature above 0 the likeliest token is always taken; sampling options do nothing.\n'
    expect((await runFake(args)).stderr).toBe(note)
    expect((await runFake([...args, '--temperature', '1'])).stderr).toBe('')
    expect((await runFake(args, { defaults: { temperature: 0.6 } })).stderr).toBe('')
  })

  it('passes on what the engine had to guess', async () => {
    const { stderr } = await runFake(['describe', picture, '--model', 'm'], { warnings: ['No rope_theta.'] })
    expect(stderr).toBe('No rope_theta.\n')
  })

  it('keeps control characters of an answer from a terminal, not from a file', async () => {
    const answers = [{ pieces: ['a\u001b[2Jb\tc\nd\u0007'] }]
    const toFile = await runFake(['describe', picture], { answers })
    expect(toFile.stdout).toBe('a\u001b[2Jb\tc\nd\u0007\n')
    const toTerminal = await runFake(['describe', picture], { answers, isTerminal: true })
    expect(toTerminal.stdout).toBe('a[2Jb\tc\nd\n')
  })
})

describe('onsight describe, interrupted', () => {
  it('prints what there is', async () => {
    const run = (json: readonly string[]): ReturnType<typeof runFake> => {
      let stop = (): void => {}
      const answers = [{ pieces: ['A ', 'fox.'], onPiece: () => stop() }]
      return runFake(['describe', picture, '-q', ...json], { answers }, (interrupts) => {
        stop = () => interrupts.raise('SIGINT')
      })
    }
    const plain = await run([])
    expect([plain.exitCode, plain.stdout, plain.stderr]).toEqual([130, 'A \n', ''])
    expect(plain.calls.disposed).toBe(1)
    const json = await run(['--json'])
    expect(json.exitCode).toBe(130)
    expect(JSON.parse(json.stdout)).toMatchObject({ text: 'A ', tokenIds: [10], finishReason: 'aborted' })
  })

  it('leaves at once while loading, whatever the engine does', async () => {
    const run = await runFake(['describe', picture, '-q'], { hangs: true }, (interrupts) => {
      setTimeout(() => interrupts.raise('SIGTERM'), 1)
    })
    expect([run.exitCode, run.stdout, run.stderr]).toEqual([143, '', ''])
  })

  it('does not take an abort that nobody asked for as one', async () => {
    const { exitCode, stderr } = await runFake(['describe', picture, '-q'], { loadError: createAbortError() })
    expect(exitCode).toBe(1)
    expect(stderr.split('\n')[0]).toBe('onsight: unexpected error: The operation was aborted.')
  })
})

describe('exit codes of onsight describe', () => {
  it.each([
    ['file/not-found', 4],
    ['format/truncated', 4],
    ['config/missing-key', 4],
    ['model/missing-tensor', 4],
    ['text/template', 4],
    ['backend/out-of-memory', 5],
    ['backend/worker-failed', 1],
    ['option/threads', 2],
  ] as const)('while loading: %s is %i', async (code, expected) => {
    const loadError = new EngineError(code, { message: 'm.gguf: cut short.', hint: 'Fetch it again.' })
    const { exitCode, stdout, stderr } = await runFake(['describe', picture, '-q'], { loadError })
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: expected,
      stdout: '',
      stderr: 'onsight: m.gguf: cut short.\n  → Fetch it again.\n',
    })
  })

  it.each([
    ['image/damaged', 1],
    ['file/not-found', 1],
    ['generation/prompt-too-long', 1],
    ['backend/out-of-memory', 5],
    ['option/invalid', 2],
  ] as const)('while answering: %s is %i', async (code, expected) => {
    const error = new EngineError(code, { message: 'No.' })
    const { exitCode } = await runFake(['describe', picture, '-q'], { answers: [{ error }] })
    expect(exitCode).toBe(expected)
  })

  it('knows the out-of-memory errors of the JavaScript engine', async () => {
    const loadError = new RangeError('Array buffer allocation failed')
    expect((await runFake(['describe', picture], { loadError })).exitCode).toBe(5)
  })
})
