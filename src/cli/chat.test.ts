import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EngineError } from '../shared/errors.ts'
import { type FakeCalls, runFake } from './fake-context.case.ts'

let folder: string
let picture: string
let other: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chat-'))
  picture = join(folder, 'photo.jpg')
  other = join(folder, 'second photo.jpg')
  await writeFile(picture, 'not decoded here')
  await writeFile(other, 'not decoded here')
})
afterAll(() => rm(folder, { recursive: true }))

const messagesOf = ({ sent }: FakeCalls): unknown[] => sent.map(({ message }) => message)
const chat = (...args: string[]): string[] => ['chat', '--model', 'm', ...args]

describe('onsight chat with piped turns', () => {
  it('takes each line as a turn of one conversation', async () => {
    const { exitCode, stdout, stderr, calls } = await runFake(chat(picture), {
      input: 'What is it?\n\n  And where?  \r\nlast, without a line break',
      answers: [{ pieces: ['A fox.'] }, { pieces: ['Left.\n'] }, { pieces: [] }],
    })
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'A fox.\nLeft.\n\n', stderr: '' })
    expect(messagesOf(calls)).toEqual([
      { text: 'What is it?', images: [picture] },
      { text: 'And where?', images: [] },
      { text: 'last, without a line break', images: [] },
    ])
    expect([calls.chats.length, calls.disposed]).toEqual([1, 1])
  })

  it('begins with the question of --ask', async () => {
    const { stdout, calls } = await runFake(chat('--ask', 'One?'), { input: 'Two?\n' })
    expect(stdout).toBe('A fox.\nA fox.\n')
    expect(messagesOf(calls)).toEqual([
      { text: 'One?', images: [] },
      { text: 'Two?', images: [] },
    ])
  })

  it('prints one JSON object a turn, failed turns included', async () => {
    const { exitCode, stdout } = await runFake(chat('--json'), {
      input: '/image /nowhere/none.jpg\none\ntwo\nthree\n',
      answers: [
        { pieces: ['1'] },
        { error: new EngineError('generation/too-long', { message: 'Too long.' }) },
        { pieces: ['3'] },
      ],
    })
    const objects = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(objects.map((object) => object['text'] ?? object)).toEqual([
      '1',
      { error: { code: 'generation/too-long', message: 'Too long.' } },
      '3',
    ])
    expect(exitCode).toBe(1)
  })

  it('goes on after a failed turn and keeps the pictures when they were not at fault', async () => {
    const failing = (code: 'image/damaged' | 'generation/too-long'): ReturnType<typeof runFake> =>
      runFake(chat(picture), {
        input: 'one\ntwo\n',
        answers: [{ error: new EngineError(code, { message: 'No.' }) }, { pieces: ['Yes.'] }],
      })
    const broken = await failing('image/damaged')
    expect([broken.exitCode, broken.stdout, broken.stderr]).toEqual([1, 'Yes.\n', 'onsight: No.\n'])
    expect(messagesOf(broken.calls)).toEqual([
      { text: 'one', images: [picture] },
      { text: 'two', images: [] },
    ])
    const tooLong = await failing('generation/too-long')
    expect(messagesOf(tooLong.calls)[1]).toEqual({ text: 'two', images: [picture] })
  })

  it('adds pictures with /image and leaves with /exit', async () => {
    const { exitCode, stderr, calls } = await runFake(chat(picture), {
      input: `/image ${other}\nCompare them.\nAgain.\n/exit\nNever asked.\n`,
    })
    expect([exitCode, stderr]).toEqual([0, `${other} goes with the next message.\n`])
    expect(messagesOf(calls)).toEqual([
      { text: 'Compare them.', images: [picture, other] },
      { text: 'Again.', images: [] },
    ])
  })

  it.each([
    ['/image', '/image: expected the path of a picture, found nothing.', 2],
    ['/image /nowhere/none.jpg', '/nowhere/none.jpg: no such file.', 1],
    ['/quit', 'Unknown command "/quit"; expected /image PATH, /again, /edit TEXT or /exit.', 2],
    ['/edit', '/edit: expected the text to ask instead, found nothing.', 2],
  ])('%s does not end the conversation or lose its pictures', async (line, message, expected) => {
    const { exitCode, stderr, calls } = await runFake(chat(picture), { input: `${line}\nGo on.\n` })
    expect(stderr.split('\n')[0]).toBe(`onsight: ${message}`)
    expect(messagesOf(calls)).toEqual([{ text: 'Go on.', images: [picture] }])
    expect(exitCode).toBe(expected)
  })

  it('answers again with /again and asks something else with /edit', async () => {
    const { stdout, calls } = await runFake(chat(), {
      input: 'What is it?\n/again\n/edit Who is it?\n',
      answers: [{ pieces: ['1'] }, { pieces: ['2'] }, { pieces: ['3'] }],
    })
    expect(stdout).toBe('1\n2\n3\n')
    expect(calls.sent.map(({ message, replaces }) => [message.text, replaces])).toEqual([
      ['What is it?', undefined],
      ['What is it?', 0],
      ['Who is it?', 0],
    ])
  })

  it('takes a path that looks like a command as a message', async () => {
    const { calls } = await runFake(chat(), { input: '/etc/passwd, what is it?\n' })
    expect(messagesOf(calls)).toEqual([{ text: '/etc/passwd, what is it?', images: [] }])
  })

  it('refuses standard input as a picture', async () => {
    const { exitCode, stderr, calls } = await runFake(chat('-'), { input: 'bytes' })
    expect(exitCode).toBe(2)
    expect(stderr.split('\n')[0]).toBe(
      'onsight: chat reads its turns from standard input, so "-" cannot be a picture.',
    )
    expect(calls.loads).toEqual([])
  })

  it('ends with the answer that was interrupted', async () => {
    let stop = (): void => {}
    const { exitCode, stdout, calls } = await runFake(
      chat(),
      { input: 'one\ntwo\n', answers: [{ pieces: ['Long', ' story'], onPiece: () => stop() }] },
      (interrupts) => {
        stop = () => interrupts.raise('SIGINT')
      },
    )
    expect([exitCode, stdout, calls.sent.length, calls.disposed]).toEqual([130, 'Long\n', 1, 1])
  })

  it('stops waiting for a line when interrupted', async () => {
    const { exitCode, stdout } = await runFake(chat(), {}, (interrupts) => {
      setTimeout(() => interrupts.raise('SIGTERM'), 20)
    })
    expect([exitCode, stdout]).toEqual([143, ''])
  })
})

describe('onsight chat at a terminal', () => {
  it('greets, prompts on standard error and ends with the input', async () => {
    const { exitCode, stdout, stderr } = await runFake(
      chat('--no-color', '--plain'),
      { isTerminal: true, env: { TERM: 'dumb' } },
      // The end comes after the answer, behind the second prompt.
      (_, stdin) => {
        stdin.write('Hello?\n')
        setTimeout(() => stdin.end(), 50)
      },
    )
    expect([exitCode, stdout]).toEqual([0, 'A fox.\n'])
    expect(stderr).toContain(
      'Ask away. /image PATH adds a picture to the next message, /again asks for another answer, /edit TEXT asks something else instead, /exit ends.\n',
    )
    expect(stderr.match(/> /g)).toHaveLength(2)
    // Without the step that puts the cursor behind the prompt.
    expect(stderr.replaceAll('\u001b[3G', '').endsWith('> \n')).toBe(true)
  })

  it('warms up while somebody types', async () => {
    const { calls } = await runFake(
      chat(picture, '--system', 'Be brief.', '--detail', 'low'),
      { isTerminal: true },
      (_, stdin) => stdin.end('Hello?\n'),
    )
    const { system, images, detail } = calls.warmUps[0] ?? {}
    expect([system, images, detail, calls.warmUps.length]).toEqual(['Be brief.', [picture], 'low', 1])
  })

  it('does not warm up where questions come at once', async () => {
    const asked = await runFake(chat('--ask', 'Hello?'), { isTerminal: true }, (_, stdin) => stdin.end())
    const piped = await runFake(chat(), { input: 'Hello?\n' })
    expect([asked.calls.warmUps, piped.calls.warmUps]).toEqual([[], []])
  })

  it('takes Ctrl-C as a key', async () => {
    const { exitCode } = await runFake(chat(), { isTerminal: true, env: { TERM: 'xterm' } }, (_, stdin) => {
      setTimeout(() => stdin.write('\u0003'), 20)
    })
    expect(exitCode).toBe(130)
  })

  it('does not make failed turns the exit code', async () => {
    const answers = [{ error: new EngineError('image/damaged', { message: 'No.' }) }]
    const { exitCode } = await runFake(chat(), { isTerminal: true, answers }, (_, stdin) =>
      stdin.end('one\n'),
    )
    expect(exitCode).toBe(0)
  })
})

describe('onsight chat --save and --resume', () => {
  const saved = (): string => join(folder, 'chat.snapshot')

  it('saves after each answer, with pictures by their full paths', async () => {
    const { exitCode, stderr, calls } = await runFake(chat('--save', saved(), picture), {
      input: 'one\ntwo\n/again\n',
    })
    expect([exitCode, calls.saves]).toEqual([0, [saved(), saved(), saved()]])
    expect(stderr).toBe(`The conversation is in ${saved()}; --resume ${saved()} goes on with it.\n`)
    expect(messagesOf(calls)[0]).toEqual({ text: 'one', images: [picture] })
  })

  it('writes nothing as long as nothing was said', async () => {
    const { calls, stderr } = await runFake(chat('--save', saved()), { input: '/exit\n' })
    expect([calls.saves, stderr]).toEqual([[], ''])
  })

  it('tells of a save that failed, and goes on', async () => {
    const saveError = new EngineError('file/disk-full', { message: 'The disk is full.' })
    const { exitCode, stdout, stderr, calls } = await runFake(chat('--save', saved(), picture), {
      input: 'one\ntwo\n',
      saveError,
    })
    expect([exitCode, stdout]).toEqual([5, 'A fox.\nA fox.\n'])
    expect(stderr).toBe('onsight: The disk is full.\n'.repeat(2))
    expect(messagesOf(calls)[1]).toEqual({ text: 'two', images: [] })
  })

  it('saves what there is of an answer that was interrupted', async () => {
    let stop = (): void => {}
    const settings = { input: 'one\ntwo\n', answers: [{ pieces: ['A ', 'fox.'], onPiece: () => stop() }] }
    const { exitCode, calls } = await runFake(chat('--save', saved()), settings, (interrupts) => {
      stop = () => interrupts.raise('SIGINT')
    })
    expect([exitCode, calls.saves]).toEqual([130, [saved()]])
  })

  it('goes on where it was', async () => {
    await writeFile(saved(), 'not read here')
    const { exitCode, stderr, calls } = await runFake(chat('--resume', saved()), { input: 'And?\n' })
    expect([exitCode, calls.restores]).toEqual([0, [saved()]])
    expect(stderr).toBe('The conversation goes on after 1 question.\n')
  })

  it('goes on from the text where the model is another one, with pictures that are still there', async () => {
    await writeFile(saved(), 'not read here')
    const lost = join(folder, 'gone.jpg')
    const { exitCode, stderr, calls } = await runFake(chat('--resume', saved(), '--save', saved()), {
      input: 'And?\n',
      restoreError: new EngineError('snapshot/foreign-model', { message: 'Made by another model.' }),
      snapshotText: {
        model: 'other',
        missingImages: 1,
        turns: [
          { role: 'user', text: 'What is it?', images: [lost, picture], imageOffsets: [0, 4] },
          { role: 'assistant', text: 'A fox.' },
        ],
      },
    })
    expect(exitCode).toBe(0)
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'Made by another model.',
      'What was said is there (1 question) and is computed again with the next message. 2 pictures cannot be found again.',
    ])
    expect(calls.chats).toEqual([
      {
        messages: [
          { role: 'user', text: 'What is it?', images: [picture], imageOffsets: [4] },
          { role: 'assistant', text: 'A fox.' },
        ],
      },
    ])
  })

  it('ends where not even the text can be read', async () => {
    await writeFile(saved(), 'not read here')
    const { exitCode, stderr } = await runFake(chat('--resume', saved()), {
      input: 'And?\n',
      restoreError: new EngineError('snapshot/damaged', { message: 'Its text is damaged.' }),
    })
    expect([exitCode, stderr]).toEqual([1, 'onsight: Its text is damaged.\n'])
  })

  it('looks at paths before it loads a model', async () => {
    const cases = [
      [['--resume', join(folder, 'none')], 'no such file'],
      [['--save', join(folder, 'none', 'a')], 'does not exist'],
      [['--save', folder], 'found a folder'],
      [['--resume', picture, '--system', 'Be brief.'], 'found both'],
    ] as const
    for (const [args, message] of cases) {
      const { exitCode, stderr, calls } = await runFake(chat(...args), { input: 'one\n' })
      expect([exitCode === 0, calls.loads]).toEqual([false, []])
      expect(stderr).toContain(message)
    }
  })
})
