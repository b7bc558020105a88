export type Language = 'en' | 'zh'

/** Texts in ICU message format by key, each in all languages, side by side so that none is forgotten. */
export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>
