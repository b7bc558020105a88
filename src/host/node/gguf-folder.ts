/** GGUF models in a folder of another program, told by their names: opening all of them would take long. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface GgufModel {
  readonly name: string
  /** Of the text model; of the first part when it lies in several files. */
  readonly path: string
  /** Of the text model, all parts. */
  readonly byteLength: number
}

const SPLIT = /-(\d{5})-of-(\d{5})\.gguf$/

/** Text models; projectors beside them are found again by their content when the model is loaded. */
export async function listGgufModels(folder: string): Promise<readonly GgufModel[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.gguf')).sort()
  const models: GgufModel[] = []
  for (const name of names) {
    if (/mmproj/i.test(name) || (SPLIT.test(name) && !/-00001-of-/.test(name))) continue
    const sizes = await Promise.all(partsOf(name).map((part) => fileSize(join(folder, part))))
    // A part that is missing, or a link to nothing: another program is still fetching it.
    if (sizes.includes(undefined)) continue
    const byteLength = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
    models.push({
      name: name.replace(SPLIT, '').replace(/\.gguf$/, ''),
      path: join(folder, name),
      byteLength,
    })
  }
  return models
}

function partsOf(name: string): string[] {
  const count = Number(SPLIT.exec(name)?.[2] ?? 1)
  if (count === 1) return [name]
  return Array.from({ length: count }, (_, index) =>
    name.replace(/-00001-of-/, `-${String(index + 1).padStart(5, '0')}-of-`),
  )
}

/** Undefined unless it is a file with something in it; links are followed. */
export async function fileSize(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size > 0 ? found.size : undefined
}

export async function listSubfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}
