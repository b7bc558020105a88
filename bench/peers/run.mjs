// Measures every engine of engines.mjs and prints a table, or JSON.
//
//   node run.mjs [--engine NAME] [--repetitions 5] [--threads 2] [--json]
//
// Each repetition runs every engine once, each in a fresh process, so that a slow moment of the machine hits
// all of them alike. The table shows the median, and the best in parentheses.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { ENGINES } from './engines.mjs'
import { METRICS } from './metrics.mjs'

const PACKAGES = ['onnxruntime-node', 'node-llama-cpp']

const options = readOptions()

function readOptions() {
  try {
    return parseArgs({
      options: {
        engine: { type: 'string' },
        repetitions: { type: 'string', default: '5' },
        threads: { type: 'string', default: '2' },
        json: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    return fail(error.message)
  }
}

function readCount(name) {
  const count = Number(options[name])
  if (!Number.isInteger(count) || count < 1)
    fail(`--${name} must be a whole number from 1 on, not "${options[name]}".`)
  return count
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

function readVersion(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version
}

/** Instructions that int8 kernels are built from; which of them a machine has decides most of the result. */
function readVectorFlags() {
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'latin1'))?.[1]?.split(' ') ?? []
  return ['avx2', 'avx_vnni', 'avx512f', 'avx512_vnni', 'avx512_bf16'].filter((flag) => flags.includes(flag))
}

function summarise(records) {
  const summary = {}
  for (const [metric, { moreIsBetter }] of Object.entries(METRICS)) {
    const sorted = records.flatMap((record) => record[metric] ?? []).sort((a, b) => a - b)
    if (sorted.length === 0) continue
    const middle = sorted.length >> 1
    const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    summary[metric] = { median, best: moreIsBetter ? sorted.at(-1) : sorted[0] }
  }
  return summary
}

function formatTable(rows) {
  const metrics = Object.entries(METRICS)
  const round = (number) => (number < 100 ? number.toFixed(1) : number.toFixed(0))
  const cells = rows.map(({ name, what, summary }) => [
    name,
    what,
    ...metrics.map(([metric]) => {
      const value = summary[metric]
      return value ? `${round(value.median)} (${round(value.best)})` : '-'
    }),
  ])
  const lines = [['engine', 'weights', ...metrics.map(([, { heading }]) => heading)], ...cells]
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const format = (line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [format(lines[0]), rule, ...lines.slice(1).map(format)].join('\n')
}

const threads = readCount('threads')
const repetitions = readCount('repetitions')
const engines = ENGINES.filter(
  ({ name }) => !options.engine || name === options.engine || name.startsWith(`${options.engine}:`),
)
if (engines.length === 0) {
  fail(`No engine named "${options.engine}"; there are: ${ENGINES.map(({ name }) => name).join(', ')}`)
}

const records = engines.map(() => [])
for (let repetition = 1; repetition <= repetitions; repetition++) {
  for (const [i, { name, measure }] of engines.entries()) {
    process.stderr.write(`${repetition}/${repetitions} ${name}\n`)
    records[i].push(await measure(threads).catch((error) => fail(`${name}: ${error.message}`)))
  }
}

const machine = {
  cpu: cpus()[0].model,
  cores: cpus().length,
  flags: readVectorFlags(),
  node: process.version,
  packages: Object.fromEntries(PACKAGES.map((name) => [name, readVersion(name)])),
  threads,
  repetitions,
}
const rows = engines.map(({ name, what }, i) => ({
  name,
  what,
  summary: summarise(records[i]),
  records: records[i],
}))
if (options.json) {
  console.log(JSON.stringify({ machine, rows }, null, 2))
} else {
  const versions = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`)
  console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.flags.join(' ')}`)
  console.log(`Node ${machine.node}, ${versions.join(', ')}, ${threads} threads`)
  console.log(`Median of ${repetitions} interleaved repetitions (best)\n`)
  console.log(formatTable(rows))
}
