/** Licence and languages as a repository's README.md states them in its front matter, or a GGUF file in its metadata. */
import type { GgufFile } from '../formats/gguf/load-gguf.ts'

export interface ModelCard {
  readonly licence: string | undefined
  readonly languages: readonly string[]
}

const MAX_LANGUAGES = 100

/** Reads the block between the first two lines of three dashes: `key: value`, `key: [a, b]`, or a list below the key. */
export function parseModelCard(readme: string | undefined): ModelCard {
  const block = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/.exec(readme ?? '')?.[1] ?? ''
  const lines = block.split(/\r?\n/)
  const licence = valuesOf(lines, 'license')[0]
  const name = valuesOf(lines, 'license_name')[0]
  return {
    licence: licence === 'other' && name !== undefined ? name : licence,
    languages: [...valuesOf(lines, 'language'), ...valuesOf(lines, 'languages')].slice(0, MAX_LANGUAGES),
  }
}

function valuesOf(lines: readonly string[], key: string): string[] {
  const at = lines.findIndex((line) => line.startsWith(`${key}:`))
  if (at < 0) return []
  const rest = (lines[at] ?? '').slice(key.length + 1).trim()
  if (rest !== '')
    return rest
      .replace(/^\[|\]$/g, '')
      .split(',')
      .map(plain)
      .filter(Boolean)
  const values: string[] = []
  for (const line of lines.slice(at + 1)) {
    const item = /^\s*-\s+(.+)$/.exec(line)?.[1]
    if (item === undefined) break
    values.push(plain(item))
  }
  return values
}

function plain(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}

export function cardOfGguf({ metadata }: Pick<GgufFile, 'metadata'>): ModelCard {
  const licence = metadata.get('general.license') ?? metadata.get('general.license.name')
  const languages = metadata.get('general.languages')
  return {
    licence: typeof licence === 'string' ? licence : undefined,
    languages: Array.isArray(languages) ? languages.map(String).slice(0, MAX_LANGUAGES) : [],
  }
}
