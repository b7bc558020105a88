/** Files that are either the old or the new, never half. */
import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { describeFailures } from './write-failure.ts'

/** Returns when the text is on the disk. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}`
  await describeFailures(path, async () => {
    try {
      const handle = await open(unfinished, 'w')
      try {
        await handle.writeFile(text)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  })
}

/** Names of files are on the disk only after this. Windows has no such thing. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
