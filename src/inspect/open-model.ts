/** Finds and opens the files behind a reference, going on past what is missing or damaged. */

import { nameLikeness } from '../engine/find-projector.ts'
import { JsonFiles } from '../engine/json-files.ts'
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import { listOtherParts, splitCountOf } from '../formats/gguf/load-split.ts'
import { isProjector, outputWidth } from '../formats/gguf/projector.ts'
import { parseSafetensorsIndex } from '../formats/safetensors/load-sharded.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost, LocatedModel, ModelFolder } from '../shared/model-files.ts'
import { Findings } from './finding.ts'
import { checkContentKind, readGguf, readSafetensors } from './read-file.ts'

/** Everything that could be opened. */
export interface OpenedModel {
  readonly name: string
  readonly folder: ModelFolder
  readonly container: 'safetensors' | 'gguf' | 'unknown'
  /** Small files of the folder. */
  readonly files: JsonFiles
  /** Parsed `config.json`; undefined for GGUF or when it cannot be read. */
  readonly config: unknown
  readonly text: GgufFile | undefined
  readonly projector: GgufFile | undefined
  /** By the names in the files. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly sources: readonly ByteSource[]
}

const INDEX_FILE = 'model.safetensors.index.json'
const PICKLE = /\.(bin|pt|pth|ckpt|pkl)$/
const PART = /-(\d{5})-of-\d{5}\.gguf$/
/** Files of a folder that are looked into for a projector. */
const MAX_NEIGHBOURS = 64

export async function openModel(
  located: LocatedModel,
  host: FileHost,
  projector: string | undefined,
  findings: Findings,
): Promise<OpenedModel> {
  const opener = new ModelOpener(located.folder, findings)
  const { fileName } = located
  if (fileName === undefined) return opener.openFolder(host, projector)
  if (fileName.endsWith('.safetensors')) return opener.openRepository(fileName)
  if (PICKLE.test(fileName)) return opener.refusePickle(fileName)
  return opener.openGguf(fileName, host, projector)
}

class ModelOpener {
  readonly #folder: ModelFolder
  readonly #findings: Findings
  readonly #files: JsonFiles
  readonly #sources: ByteSource[] = []

  constructor(folder: ModelFolder, findings: Findings) {
    this.#folder = folder
    this.#findings = findings
    this.#files = new JsonFiles(folder)
  }

  async openFolder(host: FileHost, projector: string | undefined): Promise<OpenedModel> {
    const names = await this.#folder.list()
    const ggufs = names.filter((name) => name.endsWith('.gguf')).sort()
    // Repositories of GGUF files often carry the config.json of the model they were made from.
    const hasSafetensors = names.some((name) => name.endsWith('.safetensors'))
    if (hasSafetensors || ggufs.length === 0) return this.openRepository(undefined)
    const firsts = ggufs.filter((name) => Number(PART.exec(name)?.[1] ?? 1) === 1)
    const kinds = await Promise.all(firsts.map((name) => this.#isProjectorFile(name)))
    const texts = firsts.filter((_, index) => kinds[index] !== true)
    const [only, ...more] = texts
    if (only !== undefined && more.length === 0) return this.openGguf(only, host, projector)
    if (only === undefined && firsts[0] !== undefined) return this.openGguf(firsts[0], host, undefined)
    this.#findings.add(
      'file/several-models',
      `${this.#folder.name} holds several models: ${texts.join(', ')}; expected one.`,
      { models: texts },
    )
    return this.#opened({ container: 'gguf' })
  }

  async #isProjectorFile(fileName: string): Promise<boolean | undefined> {
    const gguf = await this.#peek(fileName)
    return gguf && isProjector(gguf)
  }

  /** Looks into a neighbour without keeping it open or reporting what is wrong with it. */
  async #peek(fileName: string): Promise<GgufFile | undefined> {
    const source = await this.#folder.open(fileName)
    try {
      return await readGguf(source, new Findings())
    } finally {
      await source.close()
    }
  }

  async openRepository(fileName: string | undefined): Promise<OpenedModel> {
    const config = await this.#readJson('config.json')
    if (!(await this.#folder.list()).includes('config.json')) {
      this.#findings.add('file/no-config', `${this.#folder.name}: config.json is missing.`)
    }
    const tensors = await this.#readTensors(fileName)
    return this.#opened({ container: 'safetensors', config, tensors })
  }

  async #readTensors(fileName: string | undefined): Promise<ReadonlyMap<string, TensorInfo>> {
    const names = await this.#folder.list()
    if (fileName === undefined && names.includes(INDEX_FILE)) return this.#readShards()
    const weights = names.filter((name) => name.endsWith('.safetensors'))
    const chosen = fileName ?? weights.find((name) => name === 'model.safetensors') ?? weights[0]
    if (chosen === undefined) {
      const pickles = names.filter((name) => PICKLE.test(name))
      if (pickles.length > 0) this.#reportPickle(pickles)
      else {
        this.#findings.add(
          'file/no-weights',
          `${this.#folder.name}: expected model.safetensors or ${INDEX_FILE}, found ${names.slice(0, 8).join(', ') || 'an empty folder'}.`,
        )
      }
      return new Map()
    }
    const source = await this.#open(chosen)
    return source ? readSafetensors(source, this.#findings) : new Map()
  }

  async #readShards(): Promise<ReadonlyMap<string, TensorInfo>> {
    const index = await this.#readJson(INDEX_FILE)
    let weightMap: Map<string, string>
    try {
      weightMap = parseSafetensorsIndex(index, `${this.#folder.name}/${INDEX_FILE}`)
    } catch (error) {
      if (!EngineError.isInstance(error)) throw error
      this.#findings.addError(error, 'format/damaged-header')
      return new Map()
    }
    const fileNames = [...new Set(weightMap.values())].sort()
    const missing: string[] = []
    const found = new Map<string, TensorInfo>()
    const strays: string[] = []
    for (const fileName of fileNames) {
      const source = await this.#open(fileName, missing)
      if (!source) continue
      const tensors = await readSafetensors(source, this.#findings)
      for (const [name, tensor] of tensors) if (weightMap.get(name) === fileName) found.set(name, tensor)
      for (const [name, owner] of weightMap) if (owner === fileName && !tensors.has(name)) strays.push(name)
    }
    this.#reportMissing(missing, fileNames.length)
    if (strays.length > 0 && !this.#findings.has('format/truncated')) {
      this.#findings.add(
        'format/shard-mismatch',
        `${this.#folder.name}: ${strays.length} tensors are not in the files that ${INDEX_FILE} names, such as "${strays[0]}".`,
        { tensors: strays.length },
      )
    }
    return found
  }

  async openGguf(fileName: string, host: FileHost, projector: string | undefined): Promise<OpenedModel> {
    const source = await this.#open(fileName)
    const first = source && (await readGguf(source, this.#findings))
    if (!first) return this.#opened({ container: 'gguf', name: `${this.#folder.name}/${fileName}` })
    const name = first.source.name
    if (isProjector(first)) {
      this.#findings.add(
        'model/projector-alone',
        `${name} is a projector (mmproj), the part of a model that turns pictures into tokens.`,
      )
      return this.#opened({ container: 'gguf', name, projector: first, tensors: first.tensors })
    }
    const text = await this.#readParts(first, fileName)
    const found =
      projector === undefined
        ? await this.#findProjector(fileName, text)
        : await this.#openNamed(host, projector)
    return this.#opened({
      container: 'gguf',
      name,
      text,
      projector: found,
      tensors: new Map([...text.tensors, ...(found?.tensors ?? [])]),
    })
  }

  async #readParts(first: GgufFile, fileName: string): Promise<GgufFile> {
    try {
      if (splitCountOf(first) === 1) return first
      const names = listOtherParts(first, fileName)
      const missing: string[] = []
      const tensors = new Map(first.tensors)
      for (const name of names) {
        const source = await this.#open(name, missing)
        const part = source && (await readGguf(source, this.#findings))
        for (const [tensorName, tensor] of part?.tensors ?? []) {
          if (tensors.has(tensorName)) {
            this.#findings.add(
              'format/shard-mismatch',
              `${name}: tensor "${tensorName}" is also in an earlier part; expected each once.`,
            )
          }
          tensors.set(tensorName, tensor)
        }
      }
      this.#reportMissing(missing, names.length + 1)
      return { ...first, tensors }
    } catch (error) {
      if (!EngineError.isInstance(error)) throw error
      this.#findings.addError(error, 'format/shard-mismatch')
      return first
    }
  }

  /** The projector beside a text model: of its width and with a name like its own, as the engine chooses. */
  async #findProjector(fileName: string, text: GgufFile): Promise<GgufFile | undefined> {
    const width = text.metadata.get(`${String(text.metadata.get('general.architecture'))}.embedding_length`)
    const names = (await this.#folder.list())
      .filter((name) => name.endsWith('.gguf') && name !== fileName && !PART.test(name))
      .sort()
      .slice(0, MAX_NEIGHBOURS)
    const projectors: { name: string; width: number | undefined }[] = []
    for (const name of names) {
      const gguf = await this.#peek(name)
      if (gguf && isProjector(gguf)) projectors.push({ name, width: outputWidth(gguf) })
    }
    const fitting = projectors.filter((candidate) => candidate.width === width)
    const chosen = nearest(fileName, fitting.length > 0 ? fitting : projectors)
    if (chosen === undefined) return undefined
    if (fitting.length === 0) {
      this.#findings.add(
        'model/projector-mismatch',
        `${chosen} makes pictures of width ${projectors.find(({ name }) => name === chosen)?.width ?? 'unknown'}, but ${text.source.name} takes ${String(width)}.`,
        { projectorWidth: projectors.find(({ name }) => name === chosen)?.width, decoderWidth: width },
        // Of a pair both files were meant for each other; in a folder of many the right one is only missing.
        names.length === 1 ? 'error' : 'warning',
      )
    }
    const source = await this.#open(chosen)
    return source && readGguf(source, this.#findings)
  }

  async #openNamed(host: FileHost, reference: string): Promise<GgufFile | undefined> {
    const { folder, fileName } = await host.locateModel(reference)
    if (fileName === undefined) {
      throw new EngineError('file/is-directory', {
        message: `${reference}: expected an mmproj file, found a directory.`,
        hint: 'Name the .gguf file with the projector.',
      })
    }
    const source = await folder.open(fileName)
    this.#sources.push(source)
    const gguf = await readGguf(source, this.#findings)
    if (gguf && !isProjector(gguf)) {
      this.#findings.add(
        'model/projector-mismatch',
        `${source.name} is no projector; expected general.architecture "clip", found "${String(gguf.metadata.get('general.architecture'))}".`,
      )
      return undefined
    }
    return gguf
  }

  refusePickle(fileName: string): OpenedModel {
    this.#reportPickle([fileName])
    return this.#opened({ container: 'unknown' })
  }

  #reportPickle(names: readonly string[]): void {
    this.#findings.add(
      'file/pickle',
      `${this.#folder.name}: ${names.join(', ')} ${names.length === 1 ? 'is a pickle file' : 'are pickle files'}, which can run programs when opened; not read.`,
      { files: names },
    )
  }

  #reportMissing(missing: readonly string[], total: number): void {
    if (missing.length === 0) return
    this.#findings.add(
      'file/missing-shard',
      `${this.#folder.name}: ${missing.length} of ${total} parts are missing: ${missing.slice(0, 5).join(', ')}.`,
      { missing, parts: total },
    )
  }

  /** Undefined for a file that cannot be opened, which is reported, or listed where `missing` is given. */
  async #open(fileName: string, missing?: string[]): Promise<ByteSource | undefined> {
    try {
      const source = await this.#folder.open(fileName)
      this.#sources.push(source)
      return source
    } catch (error) {
      // The server's troubles are not the model's.
      if (!EngineError.isInstance(error) || error.code.startsWith('hub/')) throw error
      if (missing && error.code === 'file/not-found') missing.push(fileName)
      else this.#findings.addError(error, 'file/unreadable')
      return undefined
    }
  }

  async #readJson(fileName: string): Promise<unknown> {
    try {
      return await this.#files.read(fileName)
    } catch (error) {
      if (!EngineError.isInstance(error)) throw error
      const source = error.code === 'format/wrong-kind' ? await this.#folder.open(fileName) : undefined
      const isText = source === undefined || (await checkContentKind(source, 'json', this.#findings))
      await source?.close()
      if (isText) this.#findings.addError(error, 'file/not-json')
      return undefined
    }
  }

  #opened(parts: Partial<OpenedModel> & Pick<OpenedModel, 'container'>): OpenedModel {
    return {
      name: this.#folder.name,
      folder: this.#folder,
      files: this.#files,
      config: undefined,
      text: undefined,
      projector: undefined,
      tensors: new Map(),
      ...parts,
      sources: this.#sources,
    }
  }
}

function nearest(fileName: string, candidates: readonly { readonly name: string }[]): string | undefined {
  const sorted = [...candidates].sort(
    (a, b) => nameLikeness(b.name, fileName) - nameLikeness(a.name, fileName),
  )
  return sorted[0]?.name
}
