/** What belongs to the document and not to any screen: its language, title, theme and size of text. */
import { effect } from '@preact/signals'
import { settings } from '../settings/settings.ts'
import { language, t } from '../texts/texts.ts'
import { screen } from './screens.ts'

const LANGUAGE_TAGS = { en: 'en', zh: 'zh-Hans' } as const

/** As `--paper` in base.css: the bar of a phone's browser has no style sheet. */
const PAPER = { light: '#faf9f7', dark: '#16181b' } as const

export function keepDocumentState(): void {
  const root = document.documentElement
  effect(() => {
    root.lang = LANGUAGE_TAGS[language.value]
    document.title = `${t(`shell.${screen.value}`)} – Onsight`
    const manifest = document.querySelector<HTMLLinkElement>('link[rel="manifest"]')
    if (manifest) manifest.href = `manifest.${language.value}.webmanifest`
  })
  effect(() => {
    root.dataset['textSize'] = settings.textSize.value
  })
  const darkByDefault = matchMedia('(prefers-color-scheme: dark)')
  const showTheme = (): void => {
    const theme = settings.theme.value
    root.dataset['theme'] = theme
    const shown = theme === 'auto' ? (darkByDefault.matches ? 'dark' : 'light') : theme
    const bar = document.querySelector<HTMLMetaElement>('meta[name="theme-color"]')
    if (bar) bar.content = PAPER[shown]
  }
  effect(showTheme)
  darkByDefault.addEventListener('change', showTheme)
}

/** After a change of the screen the focus stands on its heading, where a screen reader goes on. */
export function focusHeadings(): void {
  let shown = screen.value
  effect(() => {
    const next = screen.value
    if (next === shown) return
    shown = next
    // Once the new screen is drawn.
    requestAnimationFrame(() => setTimeout(focusHeading))
  })
}

export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus()
  scrollTo({ top: 0 })
}
