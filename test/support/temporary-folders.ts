import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

export type FileContents = string | Uint8Array

export interface TemporaryFolders {
  /** A folder with these files, by name. */
  create(files: Readonly<Record<string, FileContents>>): string
  /** A copy of a folder in which some files are replaced, or left out where the value is undefined. */
  copy(folder: string, changes?: Readonly<Record<string, FileContents | undefined>>): string
}

/** Folders that are removed after each test. */
export function useTemporaryFolders(): TemporaryFolders {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  const create: TemporaryFolders['create'] = (files) => {
    const folder = mkdtempSync(join(tmpdir(), 'onsight-test-'))
    folders.push(folder)
    for (const [name, contents] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), contents)
    }
    return folder
  }
  return {
    create,
    copy(source, changes = {}) {
      const folder = create({})
      cpSync(source, folder, { recursive: true })
      for (const [name, contents] of Object.entries(changes)) {
        rmSync(join(folder, name), { force: true, recursive: true })
        if (contents !== undefined) writeFileSync(join(folder, name), contents)
      }
      return folder
    },
  }
}
