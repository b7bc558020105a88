/**
 * Everything that may be wrong with a picture ends in an EngineError that names the file, what was expected and found, and
 * the next step; nothing stays open behind it.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EngineError, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { openHandles } from '../support/process-resources.ts'
import { HTML_PAGE } from '../support/refusal.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()

let model: Model
beforeAll(async () => {
  model = await loadModel(goldenPath('odd/smolvlm'))
})
afterAll(() => model.dispose())

const PLACES = {
  text: ['a.jpg', 'image/unsupported-format'],
  'a page': ['b.png', 'image/unsupported-format'],
  empty: ['c.png', 'image/empty'],
  'a directory': ['', 'file/is-directory'],
  missing: ['none.png', 'file/not-found'],
} as const

describe('a path that is', () => {
  it.each(Object.entries(PLACES))('%s', async (_, [name, code]) => {
    const folder = folders.create({ 'a.jpg': 'no picture', 'b.png': HTML_PAGE, 'c.png': '' })
    await expectRefused(join(folder, name), code)
  })
})

describe('what is given as a picture', () => {
  it.each<[unknown, string]>([
    ['https://example.org/a.png', 'image/remote'],
    [new URL('ftp://example.org/a.png'), 'file/not-found'],
    ['file://host/a.png', 'file/bad-url'],
    ['file:///a%2Fb', 'file/bad-url'],
    ['a\0b.png', 'file/open-failed'],
    ['', 'file/not-found'],
    [7, 'image/invalid-input'],
    [null, 'image/invalid-input'],
    [{}, 'image/invalid-input'],
    [{ data: new Uint8Array(3), width: 2, height: 2 }, 'image/invalid-size'],
    [{ data: new Uint8Array(0), width: 0, height: 0 }, 'image/invalid-size'],
    [{ data: 'abc', width: 1, height: 1 }, 'image/invalid-input'],
    [{ data: new Float32Array(3), width: 1, height: 1 }, 'image/invalid-input'],
    [new Uint8Array(0), 'image/empty'],
    [new Blob([]), 'image/empty'],
  ])('%j', async (image, code) => {
    await expectRefused(image, code)
  })
})

async function expectRefused(image: unknown, code: string): Promise<void> {
  const handles = openHandles()
  const chat = model.chat()
  const error = await ask(chat, { text: 'a', images: [image as string] }).catch((caught: unknown) => caught)
  expect(EngineError.isInstance(error), String(error)).toBe(true)
  expect(error).toMatchObject({ code, message: expect.any(String) })
  expect(openHandles()).toEqual(handles)
  // The model is as good as before.
  expect((await ask(chat, 'a', { maxTokens: 1 })).finishReason).toBe('length')
  chat.dispose()
}
