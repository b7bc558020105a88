/** Every text that a person reads, in every language, and the language that is shown now. */
import { setupI18n } from '@lingui/core'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import { computed } from '@preact/signals'
import { settings } from '../settings/settings.ts'
import { askTexts } from './ask.ts'
import { languageOf } from './language-of.ts'
import { liveTexts } from './live.ts'
import { modelTexts } from './models.ts'
import { shellTexts } from './shell.ts'
import type { Language, Texts } from './text-table.ts'
import { voiceTexts } from './voice.ts'

const ALL = { ...shellTexts, ...askTexts, ...modelTexts, ...liveTexts, ...voiceTexts } satisfies Texts

export type TextKey = keyof typeof ALL

const catalogue = (language: Language): Record<string, string> =>
  Object.fromEntries(
    Object.entries<Record<Language, string>>(ALL).map(([key, text]) => [key, text[language]]),
  )

const i18n = setupI18n()
i18n.setMessagesCompiler(compileMessage)
i18n.load({ en: catalogue('en'), zh: catalogue('zh') })

/** `en` or `zh`: what the person chose, else the browser's. */
export const language = computed<Language>(() =>
  settings.language.value === 'auto' ? languageOf(navigator.languages) : settings.language.value,
)

/** The text in the language that is shown; components that call it are drawn anew when that changes. */
export function t(key: TextKey, values?: Readonly<Record<string, string | number>>): string {
  if (i18n.locale !== language.value) i18n.activate(language.value)
  return i18n._(key, values)
}
