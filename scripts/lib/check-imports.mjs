import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { ALTERNATIVES, HOST_FOLDERS, LAYERS, PACKAGE_HOMES, TYPES_FROM_ANYWHERE } from './layer-table.mjs'
import { lineOf, maskSource } from './mask-source.mjs'
import { scanImports } from './scan-imports.mjs'

/** @typedef {{ file: string, line: number, message: string }} Violation */

const HOST_GLOBAL =
  /(?<![\w$.#])(?:globalThis\s*\.\s*)?(window|navigator|document|__dirname|__filename|(?:process|Buffer)(?=\s*\.))\b/g

/** @param {string} file */
export const isTestCode = (file) => /\.(?:test|case|bench)\.[cm]?[jt]s$/.test(file)

/**
 * Checks the imports of all sources against the table of layers.
 * @param {ReadonlyMap<string, string>} sources Text by path relative to src/.
 * @param {readonly string[]} dependencies Names in package.json.
 * @returns {{ violations: Violation[], graph: Map<string, string[]> }} `graph`: run-time imports among `sources`.
 */
export function checkImports(sources, dependencies) {
  /** @type {Violation[]} */
  const violations = []
  /** @type {Map<string, string[]>} */
  const graph = new Map()
  const usedPackages = new Set()
  for (const [file, source] of sources) {
    if (isTestCode(file)) continue
    const folder = folderOf(file)
    const report = (/** @type {number} */ line, /** @type {string} */ message) =>
      violations.push({ file, line, message })
    if (!(folder in LAYERS)) {
      report(1, `the folder "${folder}" has no row in scripts/lib/layer-table.mjs`)
      continue
    }
    /** @type {string[]} */
    const targets = []
    for (const { specifier, line, kind } of scanImports(source)) {
      if (specifier.startsWith('.')) {
        const target = posix.normalize(posix.join(posix.dirname(file), specifier))
        const message = relativeViolation(file, target, kind, sources)
        if (message) report(line, message)
        if (kind === 'static' || kind === 'dynamic') targets.push(target)
      } else if (kind !== 'file') {
        const name = packageName(specifier)
        usedPackages.add(name)
        const message = packageViolation(folder, specifier, name, dependencies)
        if (message) report(line, message)
      }
    }
    graph.set(file, targets)
    if (!HOST_FOLDERS.includes(folder)) checkGlobals(source, report)
  }
  for (const name of dependencies) {
    if (!usedPackages.has(name))
      violations.push({
        file: '../package.json',
        line: 1,
        message: `no file imports the dependency "${name}"`,
      })
  }
  return { violations, graph }
}

/** @param {string} file */
const folderOf = (file) => file.split('/', 1)[0] ?? ''

/** The alternative that a file belongs to: `backend/wasm`, or `backend` for the files beside the drivers. */
function unitOf(/** @type {string} */ file) {
  const parts = file.split('/')
  return ALTERNATIVES.includes(parts[0] ?? '') && parts.length > 2 ? `${parts[0]}/${parts[1]}` : parts[0]
}

/**
 * @param {string} file @param {string} target @param {string} kind @param {ReadonlyMap<string, string>} sources
 * @returns {string | undefined}
 */
function relativeViolation(file, target, kind, sources) {
  // Files outside src/, such as the bundled model, are data.
  if (target.startsWith('../'))
    return kind === 'file' ? undefined : `imports ${target}, which is outside src/`
  if (!sources.has(target)) return kind === 'file' ? `names src/${target}, which does not exist` : undefined
  if (isTestCode(target)) return `imports test code, src/${target}`
  const from = folderOf(file)
  const to = folderOf(target)
  if (from === to) {
    const [fromUnit, toUnit] = [unitOf(file), unitOf(target)]
    const isAllowed = fromUnit === toUnit || toUnit === to
    return isAllowed ? undefined : `${fromUnit} may not import ${toUnit}: alternatives do not know each other`
  }
  if (kind === 'type' && TYPES_FROM_ANYWHERE.includes(from)) return undefined
  // A host starts the worker script of a driver by its address, without loading it.
  if (kind === 'file' && from === 'host') return undefined
  const allowed = LAYERS[from] ?? []
  if (allowed.some((row) => target === row || target.startsWith(`${row}/`))) return undefined
  return `${from} may not import ${allowed.some((row) => row.startsWith(`${to}/`)) ? target : to}; it may import ${allowed.join(', ') || 'nothing'}`
}

/** @param {string} specifier */
function packageName(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/**
 * @param {string} folder @param {string} specifier @param {string} name @param {readonly string[]} dependencies
 * @returns {string | undefined}
 */
function packageViolation(folder, specifier, name, dependencies) {
  if (specifier.startsWith('node:')) {
    return HOST_FOLDERS.includes(folder)
      ? undefined
      : `${specifier} belongs under ${HOST_FOLDERS.join(', ')} only`
  }
  if (builtinModules.includes(name)) return `write "node:${specifier}"`
  if (!dependencies.includes(name)) return `"${name}" is not among the dependencies of package.json`
  const home = /** @type {Record<string, string>} */ (PACKAGE_HOMES)[name]
  if (home === undefined) return `the dependency "${name}" has no row in scripts/lib/layer-table.mjs`
  return home === folder ? undefined : `"${name}" is used in src/${home} only`
}

/** @param {string} source @param {(line: number, message: string) => void} report */
function checkGlobals(source, report) {
  const masked = maskSource(source)
  for (const match of masked.matchAll(HOST_GLOBAL)) {
    report(
      lineOf(source, match.index),
      `"${match[1]}" exists in some hosts only; it belongs under ${HOST_FOLDERS.join(', ')}`,
    )
  }
}
