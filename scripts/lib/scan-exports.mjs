import { maskSource } from './mask-source.mjs'

const LIST = /(?<![\w$.])export\s+(?:type\s+)?\{([^}]*)\}/g
const DECLARATION =
  /(?<![\w$.])export\s+(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var|interface|type|enum|namespace)\s+([\w$]+)/g
const EVERYTHING = /(?<![\w$.])export\s*\*(?!\s*as\b)/

/**
 * Names that a module exports, sorted. Throws for `export *`: what is public is written down name by name.
 * @param {string} source Compiled JavaScript or declarations.
 * @returns {string[]}
 */
export function scanExports(source) {
  const masked = maskSource(source)
  if (EVERYTHING.test(masked)) throw new Error('"export *" hides what is public; list the names')
  /** @type {Set<string>} */
  const names = new Set()
  for (const match of masked.matchAll(LIST)) {
    for (const item of (match[1] ?? '').split(',')) {
      const name = item.trim().split(/\s+/).at(-1)
      if (name) names.add(name)
    }
  }
  for (const match of masked.matchAll(DECLARATION)) names.add(match[1] ?? '')
  return [...names].sort()
}
