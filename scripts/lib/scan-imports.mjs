import { lineOf, maskSource } from './mask-source.mjs'

/**
 * @typedef {object} ImportUse
 * @property {string} specifier
 * @property {number} line
 * @property {'static' | 'type' | 'dynamic' | 'file'} kind `type` vanishes at run time; `file` is `new URL(…, import.meta.url)`.
 */

// `import { type A } from './a.ts'` is no type import here: with verbatimModuleSyntax it is still loaded at run time.
const STATEMENT =
  /(?<![\w$.])(?:import|export)(?<type>\s+type(?=\s*[{*]|\s+[\w$]+\s+from\b))?(?:\s*(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?)?\s*from)?\s*(['"])(?<text>_*)\2/dg
const CALL =
  /(?<type>\btypeof\s+)?(?<![\w$.])import\s*\(\s*(['"`])(?<text>_*)\2\s*\)(?<member>\s*\.(?!\s*(?:then|catch|finally)\b))?/dg
const FILE = /\bnew\s+URL\s*\(\s*(['"])(?<text>_*)\1\s*,\s*import\.meta\.url/dg

/**
 * Every module that a source file names, in the order of its lines.
 * @param {string} source
 * @returns {ImportUse[]}
 */
export function scanImports(source) {
  const masked = maskSource(source)
  /** @type {ImportUse[]} */
  const uses = []
  /** @param {RegExp} pattern @param {ImportUse['kind']} kind */
  const collect = (pattern, kind) => {
    for (const match of masked.matchAll(pattern)) {
      const [from, to] = match.indices?.groups?.text ?? [0, 0]
      const isType = match.groups?.type !== undefined || match.groups?.member !== undefined
      uses.push({
        specifier: source.slice(from, to),
        line: lineOf(source, match.index),
        kind: isType ? 'type' : kind,
      })
    }
  }
  collect(STATEMENT, 'static')
  collect(CALL, 'dynamic')
  collect(FILE, 'file')
  return uses.sort((a, b) => a.line - b.line)
}
