import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
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

/** Bytes after gzip of all modules in one stream, as a bundle would be sent. @param {Iterable<string>} sources */
export function gzipByteLength(sources) {
  return gzipSync([...sources].join('\n'), { level: 9 }).length
}
