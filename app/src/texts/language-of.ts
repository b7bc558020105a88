import type { Language } from './text-table.ts'

/** The first of a person's languages that the app speaks; English where there is none. */
export function languageOf(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const primary = tag.toLowerCase().split('-')[0]
    if (primary === 'zh' || primary === 'en') return primary
  }
  return 'en'
}
