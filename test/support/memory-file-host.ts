/** A model folder in memory, as hosts show it. */
import { EngineError } from '../../src/shared/errors.ts'
import { createMemorySource } from '../../src/shared/memory-source.ts'
import type { FileHost } from '../../src/shared/model-files.ts'
import type { FileContents } from './temporary-folders.ts'

/** Every reference leads to the folder, or to `fileName` in it. */
export function memoryFileHost(
  name: string,
  files: Readonly<Record<string, FileContents>>,
  fileName?: string,
): FileHost {
  const folder = {
    name,
    list: async () => Object.keys(files),
    open: async (file: string) => {
      const contents = files[file]
      if (contents === undefined)
        throw new EngineError('file/not-found', { message: `${name}/${file}: no such file.` })
      const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents
      return createMemorySource(`${name}/${file}`, bytes)
    },
  }
  return {
    locateModel: async () => ({ folder, fileName }),
    readPicture: async () => {
      throw new EngineError('image/none', { message: 'There are no pictures here.' })
    },
  }
}
