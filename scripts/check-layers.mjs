// Checks that imports follow the table of layers, that no files import each other in a circle, and that files stay
// small and are named after their subject. Prints file, line and the broken rule.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkImports } from './lib/check-imports.mjs'
import { findCycles } from './lib/find-cycles.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files aim at 300 lines; beyond 600 the check fails. */
const AIM_LINES = 300
const MOST_LINES = 600
const SOURCE = /\.[cm]?[jt]s$/
const IGNORED = /(?:^|\/)(?:node_modules|generated)\//
const VAGUE_NAME = /(?:^|\/)(?:utils?|helpers?|misc|common)(?:\.|\/)/

/** @param {string} folder */
function readSources(folder) {
  const files = readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => SOURCE.test(file) && !IGNORED.test(file))
    .sort()
  return new Map(files.map((file) => [file, readFileSync(`${root}${folder}/${file}`, 'utf8')]))
}

const sources = readSources('src')
const { dependencies = {} } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const { violations, graph } = checkImports(sources, Object.keys(dependencies))
const problems = violations.map(
  ({ file, line, message }) =>
    `${file.replace(/^(?!\.\.\/)/, 'src/').replace('../', '')}:${line}  ${message}`,
)
for (const cycle of findCycles(graph))
  problems.push(`src/${cycle[0]}:1  imports itself: ${cycle.join(' → ')}`)

const long = []
for (const folder of ['src', 'kernels', 'scripts', 'test', 'bench']) {
  for (const [file, source] of folder === 'src' ? sources : readSources(folder)) {
    const path = `${folder}/${file}`
    const lines = source.split('\n').length - 1
    if (lines > MOST_LINES) problems.push(`${path}:${MOST_LINES + 1}  ${lines} lines; at most ${MOST_LINES}`)
    else if (lines > AIM_LINES) long.push(`${path} (${lines})`)
    if (VAGUE_NAME.test(path))
      problems.push(`${path}:1  is named after nothing in particular; name it after its subject`)
  }
}

if (long.length > 0) console.log(`above ${AIM_LINES} lines: ${long.join(', ')}`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error(`layers: ${problems.length} problem(s)`)
  process.exitCode = 1
} else {
  console.log(`layers: ${sources.size} files keep the rules`)
}
