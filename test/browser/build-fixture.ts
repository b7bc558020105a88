/** Builds the page of `fixture/` with Vite, as an application that has the package installed. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** @param folder An empty folder. @returns The folder to serve. */
export async function buildFixture(folder: string): Promise<string> {
  const root = join(folder, 'app')
  cpSync(fileURLToPath(new URL('fixture/', import.meta.url)), root, { recursive: true })
  mkdirSync(join(root, 'node_modules'))
  const repository = fileURLToPath(new URL('../../', import.meta.url))
  symlinkSync(repository, join(root, 'node_modules', 'onsight'), 'junction')
  await build({ root, base: './', logLevel: 'warn', configFile: false, build: { target: 'es2022' } })
  return join(root, 'dist')
}
