/** Models that other programs on this machine hold. They are read where they are; nothing is ever written there. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from './data-folder.ts'
import { listGgufModels, listSubfolders } from './gguf-folder.ts'
import { listHuggingFaceModels } from './huggingface-cache.ts'
import { listOllamaModels } from './ollama-models.ts'

export type OtherProgram = 'huggingface' | 'llama.cpp' | 'lm-studio' | 'ollama'

export interface OtherModel {
  readonly program: OtherProgram
  /** As that program calls it. */
  readonly name: string
  /** What `loadModel` takes: a folder or a file. */
  readonly path: string
  /** Projector that has to be named as well, where it does not lie beside the model. */
  readonly projector: string | undefined
  readonly byteLength: number
}

/** Where a program was, not where it must be: folders that are missing or cannot be read hold nothing. */
export async function listOtherModels(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): Promise<readonly OtherModel[]> {
  const cache = env['XDG_CACHE_HOME'] || join(home, '.cache')
  const huggingFace =
    env['HF_HUB_CACHE'] ||
    env['HUGGINGFACE_HUB_CACHE'] ||
    join(env['HF_HOME'] || join(cache, 'huggingface'), 'hub')
  const llamaCpp = env['LLAMA_CACHE'] || llamaCppCache(env, platform, home)
  const found = await Promise.all([
    listHuggingFaceModels(huggingFace, 'huggingface'),
    // llama.cpp keeps files by their names, newer versions in the layout of Hugging Face.
    listFlat(llamaCpp),
    listHuggingFaceModels(llamaCpp, 'llama.cpp'),
    listLmStudio(join(home, '.lmstudio', 'models')),
    listLmStudio(join(home, '.cache', 'lm-studio', 'models')),
    listOllamaModels(env['OLLAMA_MODELS'] || join(home, '.ollama', 'models')),
  ])
  // Two programs may share a folder.
  const seen = new Set<string>()
  return found.flat().filter(({ path, name }) => {
    const key = `${path}\n${name}`
    return !seen.has(key) && seen.add(key)
  })
}

function llamaCppCache(env: Environment, platform: NodeJS.Platform, home: string): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'llama.cpp')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'llama.cpp')
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'llama.cpp')
}

async function listFlat(folder: string): Promise<OtherModel[]> {
  const models = await listGgufModels(folder)
  return models.map((model) => ({ program: 'llama.cpp', projector: undefined, ...model }))
}

/** `publisher/repository/*.gguf` */
async function listLmStudio(root: string): Promise<OtherModel[]> {
  const models: OtherModel[] = []
  for (const publisher of await listSubfolders(root)) {
    for (const repository of await listSubfolders(join(root, publisher))) {
      for (const { name, path, byteLength } of await listGgufModels(join(root, publisher, repository))) {
        models.push({
          program: 'lm-studio',
          name: `${publisher}/${repository}/${name}`,
          path,
          projector: undefined,
          byteLength,
        })
      }
    }
  }
  return models
}
