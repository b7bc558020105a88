// Prints lines of source and of tests per folder, so that growth is visible in CI.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = /\.(?:[cm]?[jt]s|py)$/
const TEST = /\.(?:test|case)\.[cm]?[jt]s$/
const IGNORED = /(?:^|\/)(?:node_modules|generated|dist)\//

/** @type {Map<string, { files: number, source: number, tests: number }>} */
const folders = new Map()
for (const top of ['src', 'kernels', 'scripts', 'bench', 'test']) {
  for (const path of readdirSync(`${root}${top}`, { recursive: true, encoding: 'utf8' })) {
    const file = `${top}/${path.replaceAll('\\', '/')}`
    if (!SOURCE.test(file) || IGNORED.test(file)) continue
    const folder = top === 'src' ? file.split('/', 2).join('/') : top
    const count = folders.get(folder) ?? { files: 0, source: 0, tests: 0 }
    count.files++
    count[TEST.test(file) || top === 'test' ? 'tests' : 'source'] +=
      readFileSync(`${root}${file}`, 'utf8').split('\n').length - 1
    folders.set(folder, count)
  }
}

const row = (/** @type {(string | number)[]} */ [name, ...numbers]) =>
  `${String(name).padEnd(16)}${numbers.map((number) => String(number).padStart(8)).join('')}`
console.log(row(['lines', 'files', 'source', 'tests']))
for (const [folder, { files, source, tests }] of [...folders].sort())
  console.log(row([folder, files, source, tests]))
const sum = (/** @type {'files' | 'source' | 'tests'} */ key) =>
  [...folders.values()].reduce((total, count) => total + count[key], 0)
console.log(row(['total', sum('files'), sum('source'), sum('tests')]))
