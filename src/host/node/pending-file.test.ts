import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { createPendingFileHost } from './pending-file.ts'

const folders = useTemporaryFolders()
const host = createPendingFileHost()

it('appears under its name when it is published, in place of what was there', async () => {
  const folder = folders.create({ 'a.bin': 'old' })
  const file = await host.createFile(join(folder, 'a.bin'))
  await file.write(Uint8Array.of(1, 2))
  await file.write(Uint8Array.of(3))
  await file.seal()
  expect(readFileSync(join(folder, 'a.bin'), 'utf8')).toBe('old')
  await file.publish()
  await file.discard()
  expect(readdirSync(folder)).toEqual(['a.bin'])
  expect([...readFileSync(join(folder, 'a.bin'))]).toEqual([1, 2, 3])
})

it('leaves nothing when it is discarded, sealed or not', async () => {
  const folder = folders.create({})
  const open = await host.createFile(join(folder, 'a.bin'))
  const sealed = await host.createFile(join(folder, 'b.bin'))
  await sealed.seal()
  await open.discard()
  await sealed.discard()
  await sealed.discard()
  expect(readdirSync(folder)).toEqual([])
})

it('cannot be written to when sealed', async () => {
  const file = await host.createFile(join(folders.create({}), 'a.bin'))
  await file.seal()
  await expect(file.write(Uint8Array.of(1))).rejects.toMatchObject({ code: 'file/closed' })
  await file.discard()
})

it('tells what is there and how much room there is', async () => {
  const folder = folders.create({ 'a.bin': 'x', 'b/c': '' })
  expect(await host.inspectTarget(join(folder, 'a.bin'))).toEqual({
    exists: true,
    freeBytes: expect.any(Number),
  })
  expect((await host.inspectTarget(join(folder, 'new'))).exists).toBe(false)
  await expect(host.inspectTarget(join(folder, 'b'))).rejects.toMatchObject({ code: 'file/is-directory' })
  await expect(host.inspectTarget(join(folder, 'none/a'))).rejects.toMatchObject({ code: 'file/not-found' })
})
