/**
 * Which files of a folder make a model, told by what is in them: a text model with its projector (GGUF), a folder as
 * Hugging Face publishes it, a file of whisper.cpp, a Piper voice. Headers are read whole, so that files that were cut
 * off or belong to different models are refused before a byte is copied.
 */
import { CONTENT_KIND_BYTES, createWrongKindError } from '../formats/content-kind.ts'
import { isGgml, loadGgml } from '../formats/ggml/load-ggml.ts'
import { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
import { loadSplitGguf, splitCountOf } from '../formats/gguf/load-split.ts'
import { optional, requireNumber, requireString } from '../formats/gguf/metadata.ts'
import { isProjector, outputWidth } from '../formats/gguf/projector.ts'
import { loadOnnx } from '../formats/onnx/load-onnx.ts'
import { loadSafetensors } from '../formats/safetensors/load-safetensors.ts'
import { loadShardedSafetensors, parseSafetensorsIndex } from '../formats/safetensors/load-sharded.ts'
import { type ByteSource, readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'
import { isSafeFileName, parseSplitName, weightStemOf } from './file-names.ts'

const INDEX_NAME = 'model.safetensors.index.json'
const SMALL_FILE = /\.(json|jinja)$/
/** The largest index or tokenizer of a published model has 35 MB. */
const MAX_SMALL_BYTES = 2 ** 27

export interface ImportedFiles {
  /** As in a manifest. */
  readonly variant: string
  readonly names: readonly string[]
}

/** @throws EngineError when the files are no model, more than one, or parts that do not belong together. */
export async function chooseImportedFiles(folder: ModelFolder): Promise<ImportedFiles> {
  const names = (await folder.list()).filter(isSafeFileName).sort()
  const ending = (text: string): string[] => names.filter((name) => name.endsWith(text))
  const opened = new OpenedFiles(folder)
  try {
    const safetensors = ending('.safetensors')
    if (names.includes('config.json') && safetensors.length > 0)
      return await chooseSafetensors(names, safetensors, opened)
    const ggufs = ending('.gguf')
    if (ggufs.length > 0) return await chooseGguf(ggufs, opened)
    const voices = ending('.onnx')
    if (voices.length > 0) return await chooseVoice(names, voices, opened)
    const bins = ending('.bin')
    if (bins.length > 0) return await chooseGgml(bins, opened)
    throw await noModel(folder, names, safetensors, opened)
  } finally {
    await opened.close()
  }
}

/** Files that are looked into, closed together. */
class OpenedFiles {
  readonly folder: ModelFolder
  readonly #sources: ByteSource[] = []

  constructor(folder: ModelFolder) {
    this.folder = folder
  }

  async open(name: string): Promise<ByteSource> {
    const source = await this.folder.open(name)
    this.#sources.push(source)
    return source
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close()))
  }
}

async function chooseSafetensors(
  names: readonly string[],
  safetensors: readonly string[],
  opened: OpenedFiles,
): Promise<ImportedFiles> {
  const { folder } = opened
  const small = names.filter((name) => SMALL_FILE.test(name))
  if (names.includes(INDEX_NAME)) {
    const label = `${folder.name}/${INDEX_NAME}`
    const index = await readJson(label, await opened.open(INDEX_NAME))
    await loadShardedSafetensors(index, label, (name) => opened.open(name))
    const shards = new Set(parseSafetensorsIndex(index, label).values())
    return { variant: 'safetensors', names: [...small, ...shards] }
  }
  const [only, ...more] = safetensors
  if (only === undefined || more.length > 0)
    throw ambiguous(folder, 'one file of weights, or several with an index', safetensors)
  await loadSafetensors(await opened.open(only))
  const stem = weightStemOf(only)
  return { variant: stem === 'model' ? 'safetensors' : stem, names: [...small, only] }
}

async function chooseGguf(names: readonly string[], opened: OpenedFiles): Promise<ImportedFiles> {
  const { folder } = opened
  const texts: [name: string, gguf: GgufFile][] = []
  const projectors: [name: string, gguf: GgufFile][] = []
  for (const name of names) {
    const gguf = await loadGguf(await opened.open(name))
    if (isProjector(gguf)) projectors.push([name, gguf])
    else if ((parseSplitName(name)?.part ?? 1) === 1) texts.push([name, gguf])
  }
  const [text, ...otherTexts] = texts
  const [projector, ...otherProjectors] = projectors
  if (text === undefined || otherTexts.length > 0)
    throw ambiguous(folder, 'one text model', texts.length > 0 ? texts.map(([name]) => name) : names)
  if (otherProjectors.length > 0)
    throw ambiguous(
      folder,
      'at most one projector',
      projectors.map(([name]) => name),
    )
  const [textName, textFile] = text
  if (projector) checkPair(textName, textFile, ...projector)
  if (splitCountOf(textFile) > 1) await loadSplitGguf(textFile, textName, (name) => opened.open(name))
  const stem = weightStemOf(textName)
  const parts = names.filter((name) => name === textName || parseSplitName(name)?.stem === stem)
  if (projector === undefined) return { variant: stem, names: parts }
  return { variant: `${stem}+${weightStemOf(projector[0])}`, names: [...parts, projector[0]] }
}

function checkPair(textName: string, text: GgufFile, projectorName: string, projector: GgufFile): void {
  const key = `${requireString(text, 'general.architecture')}.embedding_length`
  const expected = optional(text, key, requireNumber)
  const found = outputWidth(projector)
  if (expected === undefined || found === undefined || expected === found) return
  throw new EngineError('hub/projector-mismatch', {
    message: `${projectorName}: expected a projector of width ${expected} for ${textName}, found ${found}.`,
    hint: 'Take the text model and the mmproj file of the same release.',
  })
}

async function chooseVoice(
  names: readonly string[],
  voices: readonly string[],
  opened: OpenedFiles,
): Promise<ImportedFiles> {
  const [voice, ...more] = voices
  if (voice === undefined || more.length > 0) throw ambiguous(opened.folder, 'one voice', voices)
  const settings = `${voice}.json`
  if (!names.includes(settings)) {
    throw new EngineError('file/missing-file', {
      message: `${opened.folder.name}: ${settings} is missing.`,
      hint: 'Give the .onnx.json file of the voice too; it says how texts become symbols.',
    })
  }
  await loadOnnx(await opened.open(voice))
  return { variant: weightStemOf(voice), names: [voice, settings] }
}

async function chooseGgml(bins: readonly string[], opened: OpenedFiles): Promise<ImportedFiles> {
  const [only, ...more] = bins
  if (only === undefined || more.length > 0) throw ambiguous(opened.folder, 'one model', bins)
  const source = await opened.open(only)
  const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
  if (!isGgml(head)) throw createWrongKindError(source.name, 'a file of whisper.cpp', head)
  await loadGgml(source)
  return { variant: weightStemOf(only), names: [only] }
}

async function readJson(label: string, source: ByteSource): Promise<unknown> {
  const length = Math.min(source.byteLength, MAX_SMALL_BYTES)
  try {
    return JSON.parse(new TextDecoder().decode(await readBytes(source, 0, length))) as unknown
  } catch (cause) {
    if (EngineError.isInstance(cause)) throw cause
    throw new EngineError('format/bad-index', {
      message: `${label}: expected JSON.`,
      hint: 'The file is damaged; fetch it again.',
      cause,
    })
  }
}

function ambiguous(folder: ModelFolder, expected: string, found: readonly string[]): EngineError {
  return new EngineError('hub/ambiguous-file', {
    message: `${folder.name}: expected ${expected}, found ${found.join(', ')}.`,
    hint: 'Give the files of one model only, all that belong to it.',
  })
}

/** What one of the files is instead says more than that no model was found. */
async function noModel(
  folder: ModelFolder,
  names: readonly string[],
  safetensors: readonly string[],
  opened: OpenedFiles,
): Promise<EngineError> {
  const [first] = names
  if (safetensors.length > 0) {
    return new EngineError('file/missing-file', {
      message: `${folder.name}: config.json is missing beside ${safetensors.join(', ')}.`,
      hint: 'Give the whole folder, or all its files: config.json, tokenizer.json and the others.',
    })
  }
  if (first !== undefined && names.length === 1) {
    const source = await opened.open(first)
    const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
    return createWrongKindError(first, 'a model file', head)
  }
  return new EngineError('hub/no-weights', {
    message: `${folder.name}: expected a .gguf file, or safetensors with config.json, found ${names.slice(0, 12).join(', ') || 'nothing'}.`,
    hint: 'Give the files of a model in one of these formats.',
  })
}
