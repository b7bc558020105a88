import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import { describeFailures } from './write-failure.ts'

it.runIf(process.platform === 'linux')('a full disk', async () => {
  // A device that is always full.
  await expect(describeFailures('/x/a.gguf', () => writeFile('/dev/full', 'x'))).rejects.toMatchObject({
    code: 'hub/no-space',
    message: '/x/a.gguf: the disk is full (ENOSPC).',
    hint: 'Free some space and run the same command again; what was fetched is kept. onsight rm gives it back.',
  })
})

it.each([
  ['EDQUOT', 'hub/no-space', '/x: the disk is full (EDQUOT).'],
  ['EROFS', 'hub/write-failed', '/x: no permission to write here (EROFS).'],
  ['EIO', 'hub/write-failed', '/x: writing failed (EIO).'],
])('%s is %s', async (systemCode, code, message) => {
  const failing = describeFailures('/x', () =>
    Promise.reject(Object.assign(new Error(), { code: systemCode })),
  )
  await expect(failing).rejects.toMatchObject({ code, message })
})

it('errors of ours stay as they are', async () => {
  const error = new EngineError('hub/locked', { message: 'locked' })
  await expect(describeFailures('/x', () => Promise.reject(error))).rejects.toBe(error)
})
