/** Opens the files behind a speech model's reference: what models of text are kept in, and whisper.cpp's `.bin` files. */
import { JsonFiles } from '../engine/json-files.ts'
import { type OpenedCheckpoint, openCheckpoint } from '../engine/open-checkpoint.ts'
import { CONTENT_KIND_BYTES } from '../formats/content-kind.ts'
import { type GgmlFile, isGgml, loadGgml } from '../formats/ggml/load-ggml.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import { type ByteSource, readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost, ModelFolder } from '../shared/model-files.ts'

export interface GgmlCheckpoint {
  readonly container: 'ggml'
  readonly name: string
  readonly file: GgmlFile
}

export interface OpenedSpeechModel {
  readonly checkpoint: Checkpoint | GgmlCheckpoint
  /** Small files beside the weights. */
  readonly files: JsonFiles
  /** Everything to close. */
  readonly sources: readonly ByteSource[]
}

export async function openSpeechModel(host: FileHost, reference: string): Promise<OpenedSpeechModel> {
  const { folder, fileName } = await host.locateModel(reference)
  const ggml = fileName ?? (await findOnlyGgml(folder))
  const opened = ggml?.endsWith('.bin') ? await openGgml(folder, ggml) : undefined
  if (opened) return opened
  const { checkpoint, files, sources }: OpenedCheckpoint = await openCheckpoint(host, reference)
  return { checkpoint, files: files ?? new JsonFiles(folder), sources }
}

/** The whisper.cpp file of a folder that holds nothing else to load. */
async function findOnlyGgml(folder: ModelFolder): Promise<string | undefined> {
  const names = await folder.list()
  if (names.some((name) => name === 'config.json' || name.endsWith('.gguf'))) return undefined
  const [only, ...more] = names.filter((name) => /^ggml-.+\.bin$/.test(name))
  if (only === undefined || more.length === 0) return only
  throw new EngineError('file/ambiguous-model', {
    message: `${folder.name} has several models: ${[only, ...more].join(', ')}.`,
    hint: 'Name one of these files.',
  })
}

/** Undefined for `.bin` files of another kind. */
async function openGgml(folder: ModelFolder, fileName: string): Promise<OpenedSpeechModel | undefined> {
  const source = await folder.open(fileName)
  try {
    const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
    if (!isGgml(head)) {
      await source.close()
      return undefined
    }
    const file = await loadGgml(source)
    return {
      checkpoint: { container: 'ggml', name: source.name, file },
      files: new JsonFiles(folder),
      sources: [source],
    }
  } catch (error) {
    await source.close()
    throw error
  }
}
