/** Ollama's models: `manifests/HOST/NAMESPACE/MODEL/TAG` names layers, which lie in `blobs/sha256-…`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSize, listSubfolders } from './gguf-folder.ts'
import type { OtherModel } from './other-models.ts'

const MODEL_LAYER = 'application/vnd.ollama.image.model'
const PROJECTOR_LAYER = 'application/vnd.ollama.image.projector'
/** What Ollama itself leaves out of names. */
const DEFAULT_HOST = 'registry.ollama.ai'
const DEFAULT_NAMESPACE = 'library'

export async function listOllamaModels(root: string): Promise<OtherModel[]> {
  const models: OtherModel[] = []
  const manifests = join(root, 'manifests')
  for (const host of await listSubfolders(manifests)) {
    for (const namespace of await listSubfolders(join(manifests, host))) {
      for (const name of await listSubfolders(join(manifests, host, namespace))) {
        for (const tag of await listTags(join(manifests, host, namespace, name))) {
          const path = join(manifests, host, namespace, name, tag)
          const shown = [
            ...(host === DEFAULT_HOST ? [] : [host]),
            ...(host === DEFAULT_HOST && namespace === DEFAULT_NAMESPACE ? [] : [namespace]),
            `${name}:${tag}`,
          ].join('/')
          const model = await readManifest(root, path, shown)
          if (model) models.push(model)
        }
      }
    }
  }
  return models
}

async function listTags(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort()
}

async function readManifest(root: string, path: string, name: string): Promise<OtherModel | undefined> {
  let layers: unknown
  try {
    layers = (JSON.parse(await readFile(path, 'utf8')) as { layers?: unknown } | null)?.layers
  } catch {
    return undefined
  }
  const model = blobOf(root, layers, MODEL_LAYER)
  if (model === undefined) return undefined
  const byteLength = await fileSize(model.path)
  if (byteLength !== model.size) return undefined
  const projector = blobOf(root, layers, PROJECTOR_LAYER)?.path
  return { program: 'ollama', name, path: model.path, projector, byteLength }
}

function blobOf(root: string, layers: unknown, type: string): { path: string; size: number } | undefined {
  if (!Array.isArray(layers)) return undefined
  for (const layer of layers) {
    const { mediaType, digest, size } = (layer ?? {}) as Record<string, unknown>
    if (mediaType !== type || typeof digest !== 'string' || typeof size !== 'number') continue
    // Digests become names of files, so they must be nothing else.
    if (/^sha256:[0-9a-f]{64}$/.test(digest))
      return { path: join(root, 'blobs', digest.replace(':', '-')), size }
  }
  return undefined
}
