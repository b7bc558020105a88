// Checks what is published, after a build: targets of package.json exist, the public names are the written list
// (`--write` updates it), the package holds what it must and nothing else, and the engine keeps its size.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { shippedByteLength } from './lib/module-size.mjs'
import { scanExports } from './lib/scan-exports.mjs'

const root = new URL('../', import.meta.url)
const listFile = new URL('scripts/public-exports.json', root)
/** What an app ships of a root entry: all its JavaScript with both kernel builds, without dependencies. */
const ENGINE_BUDGET_BYTES = 200_000
/** Started by its address, so no bundler finds it behind the entry. */
const COMPUTE_WORKER = './dist/backend/wasm/compute-worker.js'
const MUST_HOLD = [
  'package.json',
  'README.md',
  'README.zh-CN.md',
  'LICENSE',
  'CHANGELOG.md',
  'models/README.md',
  'models/demo.png',
  'models/tiny/config.json',
  'models/tiny/model.safetensors',
  'models/tiny/tokenizer.json',
  'dist/app/index.html',
]
/** Whatever else would be packed is a mistake. */
const MAY_HOLD =
  /^(?:package\.json|README\.md|README\.zh-CN\.md|LICENSE|CHANGELOG\.md|dist\/.+\.(?:js|d\.ts)|dist\/app\/(?!models\/).+|models\/.+)$/
const MUST_NOT_HOLD = /(?:\.test\.|\.case\.|\.bench\.|\.wat$|\.map$|golden)/

/** @type {string[]} */
const problems = []
const text = (/** @type {string} */ path) => readFileSync(new URL(path, root), 'utf8')
const manifest = JSON.parse(text('package.json'))

/** @param {unknown} target @returns {string[]} */
const paths = (target) => (typeof target === 'string' ? [target] : Object.values(target ?? {}).flatMap(paths))

function checkTargets() {
  const targets = [
    ...paths(manifest.exports),
    ...paths(manifest.bin),
    ...paths(manifest.types),
    ...paths(manifest.main),
  ]
  for (const path of targets) {
    if (!existsSync(new URL(path, root)))
      problems.push(`package.json names ${path}, which the build did not make`)
  }
  for (const path of paths(manifest.bin)) {
    if (existsSync(new URL(path, root)) && !text(path).startsWith('#!/usr/bin/env node\n')) {
      problems.push(`${path} is a command but does not begin with "#!/usr/bin/env node"`)
    }
  }
}

function publicNames() {
  /** @type {Record<string, { values: string[], types: string[] }>} */
  const entries = {}
  for (const path of new Set(paths(manifest.exports))) {
    const declarations = path.replace(/\.js$/, '.d.ts')
    if (!path.endsWith('.js') || !existsSync(new URL(path, root))) continue
    const values = scanExports(text(path))
    entries[path] = {
      values,
      types: scanExports(text(declarations)).filter((name) => !values.includes(name)),
    }
  }
  return entries
}

function checkNames() {
  const found = publicNames()
  if (process.argv.includes('--write')) writeFileSync(listFile, `${JSON.stringify(found, null, 2)}\n`)
  /** @type {ReturnType<typeof publicNames>} */
  const listed = JSON.parse(readFileSync(listFile, 'utf8'))
  for (const path of new Set([...Object.keys(found), ...Object.keys(listed)])) {
    for (const kind of /** @type {const} */ (['values', 'types'])) {
      const [now, before] = [found[path]?.[kind] ?? [], listed[path]?.[kind] ?? []]
      const added = now.filter((name) => !before.includes(name))
      const removed = before.filter((name) => !now.includes(name))
      if (added.length > 0) problems.push(`${path} newly exports ${added.join(', ')} (${kind})`)
      if (removed.length > 0) problems.push(`${path} no longer exports ${removed.join(', ')} (${kind})`)
    }
  }
  return found
}

function checkPackage() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const output = execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  })
  const [{ files, size, unpackedSize }] = JSON.parse(output)
  const packed = new Set(files.map((/** @type {{ path: string }} */ file) => file.path))
  for (const path of MUST_HOLD) if (!packed.has(path)) problems.push(`the package lacks ${path}`)
  for (const path of packed) {
    if (!MAY_HOLD.test(path) || MUST_NOT_HOLD.test(path)) problems.push(`the package must not hold ${path}`)
    // The bundler empties the app's folder itself.
    if (path.startsWith('dist/app/')) continue
    const source = path.replace(/^dist\//, 'src/')
    const origins = [
      source,
      source.replace(/\.js$/, '.ts'),
      source.replace(/\.d\.ts$/, '.ts'),
      source.replace(/\.d\.ts$/, '.js'),
    ]
    if (path.startsWith('dist/') && !origins.some((origin) => existsSync(new URL(origin, root)))) {
      problems.push(`${path} is left over from an earlier build; delete dist and build again`)
    }
  }
  console.log(`package: ${packed.size} files, ${kilobytes(size)} packed, ${kilobytes(unpackedSize)} unpacked`)
}

async function checkSize() {
  for (const entry of paths(manifest.exports['.']).filter((path) => path.endsWith('.js'))) {
    if (!existsSync(new URL(entry, root))) continue
    const bytes = await shippedByteLength([new URL(entry, root), new URL(COMPUTE_WORKER, root)])
    console.log(`${entry}: ${kilobytes(bytes)} of ${kilobytes(ENGINE_BUDGET_BYTES)}, bundled, minified, gzip`)
    if (bytes > ENGINE_BUDGET_BYTES)
      problems.push(`${entry} exceeds its budget of ${kilobytes(ENGINE_BUDGET_BYTES)} gzip`)
  }
}

/** @param {number} bytes */
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`

checkTargets()
const names = checkNames()
checkPackage()
await checkSize()
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error(
    `exports: ${problems.length} problem(s); after a wanted change: node scripts/check-exports.mjs --write`,
  )
  process.exitCode = 1
} else {
  const count = Object.values(names).reduce((sum, { values, types }) => sum + values.length + types.length, 0)
  console.log(`exports: ${count} public names as listed`)
}
