/** Model folders in which one thing is changed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TemporaryFolders } from './temporary-folders.ts'

export function readJson(folder: string, name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>
}

/** A copy with one field of one JSON file changed; `undefined` removes it. The path may go into objects. */
export function withField(
  folders: TemporaryFolders,
  folder: string,
  file: string,
  path: string,
  value: unknown,
): string {
  const root = readJson(folder, file)
  const keys = path.split('.')
  const last = keys.pop()!
  let parent = root
  for (const key of keys) parent = parent[key] as Record<string, unknown>
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return folders.copy(folder, { [file]: JSON.stringify(root) })
}
