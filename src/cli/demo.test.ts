import { describe, expect, it } from 'vitest'
import { BUNDLED_PATH, runFake } from './fake-context.case.ts'

describe('onsight demo', () => {
  it('shows the bundled picture and how to go on', async () => {
    const { exitCode, stdout, stderr, calls } = await runFake(['demo'])
    expect([exitCode, stdout]).toEqual([0, 'A fox.\n'])
    expect(calls.loads[0]!.reference).toBe(BUNDLED_PATH)
    expect(calls.sent[0]!.message).toEqual({
      text: 'Describe this picture.',
      images: ['/package/models/demo.png'],
    })
    expect(stderr.split('\n').slice(2)).toEqual([
      'Picture: /package/models/demo.png',
      'Question: Describe this picture.',
      'How to go on:',
      '  npx onsight describe PICTURE --ask "…"       ask something about a picture of yours',
      '  npx onsight chat PICTURE                     have a conversation about it',
      '  npx onsight describe PICTURE --model FOLDER  use a model that knows photos',
      '',
    ])
  })

  it('speaks Chinese where the locale is Chinese', async () => {
    const { stderr, calls } = await runFake(['demo'], { env: { LANG: 'en_US.UTF-8', LC_ALL: 'zh_TW.UTF-8' } })
    expect(calls.sent[0]!.message.text).toBe('请描述这张图片。')
    expect(stderr.split('\n')[3]).toBe('问题: 请描述这张图片。')
  })
})
