/**
 * `JSON.parse` keeps the last of two equal keys without a word. In a weight file that would silently pick one of
 * two tensors, so the text is searched for repeated keys of one object.
 */

/** The first key that some object of `json` has twice, or undefined. `json` must be valid JSON. */
export function findDuplicateKey(json: string): string | undefined {
  // One entry per open object or array; arrays have no keys.
  const open: (Set<string> | undefined)[] = []
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (char === '{') open.push(new Set())
    else if (char === '[') open.push(undefined)
    else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      const end = closingQuote(json, i)
      const keys = open.at(-1)
      if (keys !== undefined && isFollowedByColon(json, end + 1)) {
        const key = JSON.parse(json.slice(i, end + 1)) as string
        if (keys.has(key)) return key
        keys.add(key)
      }
      i = end
    }
  }
  return undefined
}

function closingQuote(json: string, start: number): number {
  let end = start + 1
  while (json[end] !== '"') end += json[end] === '\\' ? 2 : 1
  return end
}

function isFollowedByColon(json: string, at: number): boolean {
  let next = at
  while (json[next] === ' ' || json[next] === '\n' || json[next] === '\r' || json[next] === '\t') next++
  return json[next] === ':'
}
