/** A folder under the system's temporary one, gone when the process ends, however it ends. */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { ScratchFolder } from '../../shared/pending-file.ts'

export async function createScratchFolder(): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), 'onsight-'))
  const onExit = (): void => rmSync(path, { recursive: true, force: true })
  process.once('exit', onExit)
  return {
    pathOf: (fileName) => join(path, fileName),
    remove: (fileName) => rm(join(path, fileName), { force: true }),
    async dispose() {
      process.removeListener('exit', onExit)
      await rm(path, { recursive: true, force: true })
    },
  }
}
