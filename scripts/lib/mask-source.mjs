// Blanks everything in TypeScript or JavaScript source that is not code, keeping every position and line: comments
// become spaces, the insides of strings, templates and regular expressions become `_`. What a pattern finds in the
// result is code; the text of a string is read from the original at the same position. TypeScript 7 offers no parser
// to JavaScript, and a check that only looks at imports and names needs none.

/** After these, a slash begins a regular expression; after a value it divides. */
const BEFORE_EXPRESSION =
  /(?:^|[({[,;:=!?&|+\-*%<>~^}]|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw|new|instanceof))\s*$/

/** @param {string} source @returns {string} Same length and lines. */
export function maskSource(source) {
  const out = source.split('') // UTF-16 units, so that positions agree
  /** Depth of braces of each open `${`, innermost last. @type {number[]} */
  const templates = []
  let at = 0

  /** Blanks [from, to), keeping line ends. @param {number} from @param {number} to @param {string} filler */
  const blank = (from, to, filler) => {
    for (let i = from; i < to && i < out.length; i++) if (out[i] !== '\n' && out[i] !== '\r') out[i] = filler
  }

  /** Skips a literal that ends at `close`, minding escapes. Returns the position of the closing character. */
  const findClose = (/** @type {number} */ from, /** @type {string} */ close) => {
    let i = from
    while (i < source.length && source[i] !== close) {
      if (source[i] === '\n' && close !== '`') return i
      i += source[i] === '\\' ? 2 : 1
    }
    return Math.min(i, source.length)
  }

  /** From inside a template to its end or to the next `${`. */
  const skipTemplate = (/** @type {number} */ from) => {
    let i = from
    while (i < source.length && source[i] !== '`' && !source.startsWith('${', i))
      i += source[i] === '\\' ? 2 : 1
    blank(from, i, '_')
    if (source[i] !== '`' && i < source.length) {
      templates.push(0)
      return i + 2
    }
    return i + 1
  }

  const findRegexClose = (/** @type {number} */ from) => {
    let inClass = false
    for (let i = from; i < source.length && source[i] !== '\n'; i++) {
      if (source[i] === '\\') i++
      else if (source[i] === '[') inClass = true
      else if (source[i] === ']') inClass = false
      else if (source[i] === '/' && !inClass) return i
    }
    return -1
  }

  while (at < source.length) {
    const character = source[at]
    if (source.startsWith('//', at) || (at === 0 && source.startsWith('#!'))) {
      const end = source.indexOf('\n', at)
      blank(at, end < 0 ? source.length : end, ' ')
      at = end < 0 ? source.length : end
    } else if (source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2)
      const next = end < 0 ? source.length : end + 2
      blank(at, next, ' ')
      at = next
    } else if (character === "'" || character === '"') {
      const end = findClose(at + 1, character)
      blank(at + 1, end, '_')
      at = end + 1
    } else if (character === '`') {
      at = skipTemplate(at + 1)
    } else if (character === '/') {
      const before = out.slice(Math.max(0, at - 80), at).join('')
      const end = BEFORE_EXPRESSION.test(before) ? findRegexClose(at + 1) : -1
      if (end > 0) blank(at + 1, end, '_')
      at = end > 0 ? end + 1 : at + 1
    } else {
      const open = templates.length - 1
      if (open >= 0 && character === '{') templates[open] = (templates[open] ?? 0) + 1
      if (open >= 0 && character === '}') {
        if (templates[open] === 0) {
          templates.pop()
          at = skipTemplate(at + 1)
          continue
        }
        templates[open] = (templates[open] ?? 0) - 1
      }
      at++
    }
  }
  return out.join('')
}

/** Line of a position, from 1. @param {string} source @param {number} position */
export function lineOf(source, position) {
  return source.slice(0, position).split('\n').length
}
