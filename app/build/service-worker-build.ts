/** Builds the service worker last, with the list of everything that was built before. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'vite'
import type { BuiltFile, BuiltFiles } from '../src/service-worker/built-files.ts'

const NAME = 'service-worker.js'
/** Above this a file does not hold up the first start: the largest part of the shell has 0.2 MB, dictionaries have 1 to 3. */
const MOST_SHELL_BYTES = 400_000
/** Vite's names of what it bundles: the content is in the name. */
const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/

export function serviceWorkerBuild(): Plugin {
  let root: string
  let outDir: string
  return {
    name: 'onsight:service-worker',
    apply: 'build',
    configResolved(config) {
      root = config.root
      outDir = join(config.root, relative(config.root, config.build.outDir))
    },
    async closeBundle() {
      await build({
        configFile: false,
        root,
        publicDir: false,
        logLevel: 'warn',
        define: {
          ONSIGHT_BUILT_FILES: JSON.stringify(listBuiltFiles(outDir)),
          'process.env.NODE_ENV': '"production"',
        },
        build: {
          outDir,
          emptyOutDir: false,
          target: 'es2022',
          // Beside the documents, so that all of them are in its scope, and under one name for ever.
          rolldownOptions: {
            input: join(root, 'src/service-worker/service-worker.ts'),
            output: { format: 'iife', entryFileNames: NAME },
          },
        },
      })
    },
  }
}

function listBuiltFiles(folder: string): BuiltFiles {
  const shell: BuiltFile[] = []
  const later: BuiltFile[] = []
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .sort()
  for (const path of paths) {
    if (path === NAME) continue
    const file = join(folder, path)
    const revision = HASHED.test(path)
      ? null
      : createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
    const list = path.startsWith('models/') || statSync(file).size > MOST_SHELL_BYTES ? later : shell
    list.push({ url: path, revision })
  }
  return { shell, later }
}
