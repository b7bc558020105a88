/** Loading models that must be refused: what the error says, and that nothing stays open behind it. */
import { afterAll, beforeAll, expect } from 'vitest'
import { EngineError, loadModel } from '../../src/entry/index.node.ts'
import { goldenPath } from './golden-model.ts'
import { openHandles, threadCount } from './process-resources.ts'

export const LFS_POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1234\n`
export const HTML_PAGE = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>'

export interface Refusal {
  readonly code: string
  /** Temporary folders are called DIR. */
  readonly message: string
  readonly hint: string | undefined
}

/** What a rejected load says, its folder left out. Every error has a message for people and, mostly, a next step. */
export async function refusal(
  reference: string,
  options: Parameters<typeof loadModel>[1] = {},
): Promise<Refusal> {
  const model = await loadModel(reference, options).catch((error: unknown) => error)
  if (!EngineError.isInstance(model)) {
    if ('dispose' in (model as object)) await (model as { dispose(): Promise<void> }).dispose()
    throw new Error(`Expected an EngineError, found ${String((model as Error).stack ?? 'a model')}.`)
  }
  expect(model.message.length).toBeLessThan(600)
  return {
    code: model.code,
    message: model.message.replaceAll(/\S*onsight-test-\w+/g, 'DIR'),
    hint: model.hint,
  }
}

/** All files and threads that the tests of a file opened must be closed at its end. */
export function expectNothingLeftOpen(): void {
  let threads = 0
  let handles: string[] = []
  beforeAll(async () => {
    await (await loadModel(goldenPath('odd/qwen2'))).dispose()
    threads = threadCount()
    handles = openHandles()
  })
  afterAll(() => {
    expect(openHandles()).toEqual(handles)
    expect(threadCount()).toBeLessThanOrEqual(threads)
  })
}
