/** The cache of the Hugging Face tools: `models--OWNER--NAME/snapshots/COMMIT/`, files of it links to blobs. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSize, listGgufModels, listSubfolders } from './gguf-folder.ts'
import type { OtherModel, OtherProgram } from './other-models.ts'

const INDEX = 'model.safetensors.index.json'
/** Enough to tell commits of one repository apart. */
const SHOWN_COMMIT_LENGTH = 12

/** Snapshots that hold a whole model; what is still being fetched is left out. */
export async function listHuggingFaceModels(root: string, program: OtherProgram): Promise<OtherModel[]> {
  const models: OtherModel[] = []
  for (const folder of await listSubfolders(root)) {
    const [kind, ...names] = folder.split('--')
    if (kind !== 'models' || names.length !== 2) continue
    const main = (await readFile(join(root, folder, 'refs', 'main'), 'utf8').catch(() => '')).trim()
    for (const commit of await listSubfolders(join(root, folder, 'snapshots'))) {
      const suffix = commit === main ? '' : `@${commit.slice(0, SHOWN_COMMIT_LENGTH)}`
      const name = `${names.join('/')}${suffix}`
      models.push(...(await listSnapshot(join(root, folder, 'snapshots', commit), name, program)))
    }
  }
  return models
}

async function listSnapshot(path: string, name: string, program: OtherProgram): Promise<OtherModel[]> {
  const names: string[] = await readdir(path).catch(() => [])
  if (names.includes('config.json')) {
    const byteLength = await safetensorsSize(path, names)
    if (byteLength !== undefined) return [{ program, name, path, projector: undefined, byteLength }]
  }
  const ggufs = await listGgufModels(path)
  return ggufs.map((model) => ({
    program,
    name: `${name}/${model.name}`,
    path: model.path,
    projector: undefined,
    byteLength: model.byteLength,
  }))
}

/** Of all weights; undefined when one is missing. */
async function safetensorsSize(path: string, names: readonly string[]): Promise<number | undefined> {
  const weights = names.includes(INDEX)
    ? await indexedFiles(join(path, INDEX))
    : names.filter((name) => name.endsWith('.safetensors'))
  const sizes = await Promise.all(['config.json', ...weights].map((name) => fileSize(join(path, name))))
  if (weights.length === 0 || sizes.includes(undefined)) return undefined
  return sizes.slice(1).reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

async function indexedFiles(path: string): Promise<readonly string[]> {
  try {
    const { weight_map: map } = JSON.parse(await readFile(path, 'utf8')) as {
      weight_map?: Record<string, unknown>
    }
    return [...new Set(Object.values(map ?? {}))].filter(
      (name): name is string => typeof name === 'string' && !/[/\\]/.test(name),
    )
  } catch {
    return []
  }
}
