import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { scanImports } from './scan-imports.mjs'

/**
 * All modules that an entry loads at once or later, workers included, through relative imports.
 * @param {URL} entry
 * @returns {Map<string, string>} Text by address; the entry first.
 */
export function collectModules(entry) {
  /** @type {Map<string, string>} */
  const modules = new Map()
  const queue = [entry]
  for (const url of queue) {
    if (modules.has(url.href)) continue
    const source = readFileSync(url, 'utf8')
    modules.set(url.href, source)
    for (const { specifier, kind } of scanImports(source)) {
      if (specifier.startsWith('.') && kind !== 'type' && /\.m?js$/.test(specifier))
        queue.push(new URL(specifier, url))
    }
  }
  return modules
}

/**
 * Bytes after gzip of what an app ships of these entries: bundled and minified, parts that load later included,
 * dependencies left out.
 * @param {readonly URL[]} entries
 * @returns {Promise<number>}
 */
export async function shippedByteLength(entries) {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      // Keeps imports of Node's own modules as they are.
      ssr: true,
      rolldownOptions: {
        input: entries.map((entry) => fileURLToPath(entry)),
        preserveEntrySignatures: 'strict',
        external: (id) => !/^(?:[./\0]|[A-Za-z]:\\)/.test(id),
      },
    },
  })
  let bytes = 0
  for (const bundle of /** @type {import('vite').Rolldown.RolldownOutput[]} */ ([result].flat())) {
    for (const file of bundle.output) {
      bytes += gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length
    }
  }
  return bytes
}
