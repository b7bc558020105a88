import { describe, expect, it } from 'vitest'
import type { ChatEvent, UserMessage } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import { createFakeModel, type FakeAnswer, type FakeModel } from '../testing/fake-model.ts'
import type { RemoteModel } from './remote/remote-model.ts'
import { type ConsentRequest, createRoutedModel, type RouteOptions } from './routed-model.ts'

const HOST = 'api.example.com'

/** Says "near" on the device and "far" elsewhere. */
function setUp(
  options: Partial<RouteOptions>,
  answers: { near?: FakeAnswer; far?: FakeAnswer; takesImages?: boolean } = {},
) {
  const local = createFakeModel({
    name: 'small',
    ...(answers.takesImages !== undefined && { takesImages: answers.takesImages }),
    answer: () => answers.near ?? { pieces: ['near'] },
  })
  const far = createFakeModel({ answer: () => answers.far ?? { pieces: ['far'] } })
  const remote: RemoteModel = Object.assign(Object.create(null), {
    host: HOST,
    model: 'big',
    chat: far.chat,
    dispose: far.dispose,
  })
  const asked: ConsentRequest[] = []
  const routed = createRoutedModel({
    choice: 'auto',
    local,
    remote,
    consent: (request) => {
      asked.push(request)
      return true
    },
    ...options,
  })
  return { routed, local, far, asked, chat: routed.chat() }
}

async function ask(
  chat: { send(message: UserMessage): AsyncIterable<ChatEvent> },
  message: UserMessage | string,
) {
  const steps: string[] = []
  let text = ''
  let by: unknown
  for await (const event of chat.send(typeof message === 'string' ? { text: message } : message)) {
    if (event.type === 'route-chosen') steps.push(`${event.answeredBy.route}: ${event.reason}`)
    if (event.type === 'answer-finished') {
      text = event.text
      by = event.answeredBy
    }
  }
  return { steps, text, by }
}

const failure = (code: 'backend/out-of-memory' | 'remote/unavailable' | 'image/damaged'): FakeAnswer => ({
  pieces: [],
  error: new EngineError(code, { message: code }),
})
const PICTURE = { text: 'see', images: [Uint8Array.of(1)] }

const questionsOf = ({ questions }: FakeModel) => questions.map(({ message }) => message.text)

describe('a routed model', () => {
  it('sends nothing under "local", whatever fails', async () => {
    const { chat, far, asked } = setUp({ choice: 'local' }, { near: failure('backend/out-of-memory') })
    await expect(ask(chat, 'a')).rejects.toMatchObject({ code: 'backend/out-of-memory' })
    expect(questionsOf(far)).toEqual([])
    expect(asked).toEqual([])
  })

  it('asks only the endpoint under "remote", whatever fails', async () => {
    const { chat, local } = setUp({ choice: 'remote' }, { far: failure('remote/unavailable') })
    await expect(ask(chat, 'a')).rejects.toMatchObject({ code: 'remote/unavailable' })
    expect(questionsOf(local)).toEqual([])
  })

  it('stays on the device under "auto" and says so', async () => {
    const { chat, asked } = setUp({})
    expect(await ask(chat, 'a')).toEqual({
      steps: ['local: preferred'],
      text: 'near',
      by: { route: 'local', model: 'small' },
    })
    expect(asked).toEqual([])
  })

  it('leaves the device with consent, asked once a conversation', async () => {
    const { chat, asked } = setUp({ prefer: 'remote' })
    expect(await ask(chat, PICTURE)).toEqual({
      steps: ['remote: preferred'],
      text: 'far',
      by: { route: 'remote', model: 'big', host: HOST },
    })
    await ask(chat, 'b')
    expect(asked).toEqual([{ host: HOST, model: 'big', pictures: 1, reason: 'preferred' }])
  })

  it('asks again in another conversation', async () => {
    const { routed, asked } = setUp({ prefer: 'remote' })
    await ask(routed.chat(), 'a')
    await ask(routed.chat(), 'a')
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['refused', { consent: () => false }],
    ['never asked for', { consent: undefined as never }],
  ])('stays on the device where consent was %s', async (_, options) => {
    const { chat, far } = setUp({ prefer: 'remote', ...options })
    expect(await ask(chat, 'a')).toMatchObject({ steps: ['local: no-consent'], text: 'near' })
    expect(questionsOf(far)).toEqual([])
  })

  it('takes the endpoint where no local model is, or none that sees', async () => {
    const blind = setUp({}, { takesImages: false })
    expect((await ask(blind.chat, PICTURE)).steps).toEqual(['remote: no-local-pictures'])
    const alone = setUp({ local: undefined as never })
    expect((await ask(alone.chat, 'a')).steps).toEqual(['remote: no-local-model'])
    const refused = setUp({ local: undefined as never, consent: () => false })
    await expect(ask(refused.chat, 'a')).rejects.toMatchObject({ code: 'remote/no-consent' })
  })

  it('goes on elsewhere where one fails before its first word, with the whole conversation', async () => {
    const away = setUp({ prefer: 'remote' }, { far: failure('remote/unavailable') })
    expect(await ask(away.chat, 'a')).toMatchObject({
      steps: ['remote: preferred', 'local: remote-failed'],
      text: 'near',
      by: { route: 'local' },
    })
    const weak = setUp({}, { near: failure('backend/out-of-memory') })
    expect((await ask(weak.chat, 'a')).steps).toEqual(['local: preferred', 'remote: local-failed'])
    expect((await ask(weak.chat, 'b')).text).toBe('far')
    expect(weak.far.questions.at(-1)?.chat.messages).toEqual([
      { role: 'user', text: 'a' },
      { role: 'assistant', text: 'far' },
    ])
  })

  it('hides no error of the message itself, and takes back nothing that was heard', async () => {
    const broken = setUp({}, { near: failure('image/damaged') })
    await expect(ask(broken.chat, PICTURE)).rejects.toMatchObject({ code: 'image/damaged' })
    const cut = setUp({ prefer: 'remote' }, { far: { ...failure('remote/unavailable'), pieces: ['Onc'] } })
    await expect(ask(cut.chat, 'a')).rejects.toMatchObject({ code: 'remote/unavailable' })
    expect(questionsOf(cut.local)).toEqual([])
  })

  it('fails when both do', async () => {
    const { chat } = setUp({}, { near: failure('backend/out-of-memory'), far: failure('remote/unavailable') })
    await expect(ask(chat, 'a')).rejects.toMatchObject({ code: 'remote/unavailable' })
  })

  it.each([
    ['local', { local: undefined }, /a local model/],
    ['remote', { remote: undefined }, /a remote endpoint/],
    ['auto', { local: undefined, remote: undefined }, /a local model or a remote endpoint/],
  ] as const)('refuses "%s" without a model for it', (choice, missing, message) => {
    expect(() => setUp({ choice, ...(missing as object) })).toThrow(
      expect.objectContaining({ code: 'option/route', message: expect.stringMatching(message) }),
    )
  })
})
