/** Names that come from servers and become names of files here. */

/** Two of them and a commit make a folder name of at most 255 bytes; the longest real names have about 80. */
const MAX_NAME_LENGTH = 100

// Windows opens devices by these names, whatever the ending.
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** One plain name that no file system reads as a path, a device, a stream or a hidden file. */
export function isSafeFileName(name: string): boolean {
  return (
    name.length <= MAX_NAME_LENGTH &&
    /^[\p{L}\p{N}_][\p{L}\p{N} _.,+=()@~-]*(?<![ .])$/u.test(name) &&
    !DEVICE.test(name)
  )
}

/** A path inside a repository of such names. */
export function isSafePath(path: string): boolean {
  return path.split('/').every(isSafeFileName)
}

/** The last name of a path. */
export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const SPLIT = /^(.*)-(\d{5})-of-(\d{5})(\.(?:gguf|safetensors))$/

/** A part of weights that lie in several files. */
export interface SplitName {
  readonly stem: string
  readonly part: number
  readonly parts: number
}

/** `model-00002-of-00003.gguf` → part 2 of 3. */
export function parseSplitName(path: string): SplitName | undefined {
  const match = SPLIT.exec(path)
  if (match === null) return undefined
  const [, stem = '', part, parts] = match
  return { stem, part: Number(part), parts: Number(parts) }
}

/** The names of all parts, in order; only the given name when it is no part of several. */
export function splitPartsOf(path: string): readonly string[] {
  const match = SPLIT.exec(path)
  if (match === null) return [path]
  const [, stem = '', , parts = '', ending = ''] = match
  return Array.from(
    { length: Number(parts) },
    (_, index) => `${stem}-${String(index + 1).padStart(5, '0')}-of-${parts}${ending}`,
  )
}

/** Name without ending and part number. */
export function weightStemOf(path: string): string {
  return parseSplitName(baseNameOf(path))?.stem ?? baseNameOf(path).replace(/\.[^.]*$/, '')
}
