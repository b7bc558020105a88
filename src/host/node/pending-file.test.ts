import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPendingFileHost } from './pending-file.ts'

it.skipIf(process.platform === 'win32')('refuses to put a file in the place of a device', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pending-'))
  try {
    const device = join(folder, 'null')
    await symlink('/dev/null', device)
    await expect(createPendingFileHost().inspectTarget(device)).rejects.toMatchObject({
      code: 'file/not-a-file',
      message: `${device}: expected the name of a file, found a device, pipe or socket.`,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
