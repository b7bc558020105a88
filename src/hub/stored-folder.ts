/** A stored model as a folder to load from: what is damaged is told by the model's name. */
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'
import { damagedError, type StoredModel } from './model-store.ts'

export function createStoredFolder(
  model: StoredModel,
  openFile: (fileName: string) => Promise<ByteSource>,
): ModelFolder {
  return {
    name: model.id,
    list: async () => model.files.map(({ name }) => name),
    async open(fileName) {
      const file = model.files.find(({ name }) => name === fileName)
      if (file === undefined) {
        throw new EngineError('file/not-found', {
          message: `${model.id}: there is no file ${fileName}.`,
          hint: 'Pull the model again, with the files that are wanted.',
        })
      }
      const source = await openFile(fileName).catch((error: unknown) => {
        const isGone = EngineError.isInstance(error) && error.code === 'file/not-found'
        throw isGone ? damagedError(model, [fileName]) : error
      })
      if (source.byteLength === file.byteLength) return source
      await source.close()
      throw damagedError(model, [fileName])
    },
  }
}
