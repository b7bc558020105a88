/** The built app: `dist/app` where it is newer than everything it is made of, else a build of its own for this state. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, renameSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const repository = fileURLToPath(new URL('../../', import.meta.url))
/** What the app is made of. Of `dist` the library only. */
const SOURCES = ['app/src', 'app/build', 'app/public', 'models/tiny', 'dist/entry', 'dist/backend']
const SOURCE_FILES = ['app/index.html', 'app/connected.html', 'app/vite.config.ts', 'package.json']

/** @returns The folder to serve. Test files that run at the same time may build twice; the first one is kept. */
export async function buildApp(): Promise<string> {
  const changed = Math.max(
    ...SOURCE_FILES.map((file) => changeOf(join(repository, file))),
    ...SOURCES.map((folder) => latestChange(join(repository, folder))),
  )
  const ready = join(repository, 'dist/app')
  if (changeOf(join(ready, 'index.html')) > changed) return ready
  const state = createHash('sha256').update(`${repository} ${changed}`).digest('hex').slice(0, 16)
  const folder = join(tmpdir(), `onsight-app-${state}`)
  if (existsSync(folder)) return folder
  const building = mkdtempSync(join(tmpdir(), 'onsight-app-building-'))
  // In a process of its own: here NODE_ENV is "test", and that would be a development build.
  await promisify(execFile)(
    process.execPath,
    ['node_modules/vite/bin/vite.js', 'build', 'app', '--logLevel', 'error', '--outDir', building],
    { cwd: repository, env: { ...process.env, NODE_ENV: 'production' } },
  )
  try {
    renameSync(building, folder)
  } catch {
    // Another test file was first.
    return existsSync(folder) ? folder : building
  }
  return folder
}

function latestChange(folder: string): number {
  if (!existsSync(folder)) return 0
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Math.max(
    0,
    ...files.filter((file) => file.isFile()).map(({ parentPath, name }) => changeOf(join(parentPath, name))),
  )
}

const changeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
