/** What a person chose, kept in this browser. */
import { effect, type Signal, signal } from '@preact/signals'

export interface Settings {
  readonly language: Signal<'auto' | 'en' | 'zh'>
  readonly theme: Signal<'auto' | 'light' | 'dark'>
  readonly textSize: Signal<'normal' | 'large' | 'larger' | 'largest'>
  /** How answers reach somebody who does not read the screen: by the screen reader or by our voice, never both. */
  readonly announcing: Signal<'sentences' | 'ends' | 'own-voice'>
  readonly brevity: Signal<'short' | 'normal' | 'full'>
  /** Pace of the voice. */
  readonly rate: Signal<number>
  /** Name of the model in the store; `tiny` is the bundled one. */
  readonly model: Signal<string>
  /** Name of the recogniser in the store; empty: none. */
  readonly recognizer: Signal<string>
  /** `platform:NAME` or the name of a voice in the store; empty: the first local one of the language. */
  readonly voice: Signal<string>
  /** Address of the hub or of a mirror that models come from; empty: the default one. */
  readonly hub: Signal<string>
  /** Whether the person has put away what newcomers are told. */
  readonly welcomed: Signal<boolean>
}

const DEFAULTS: { readonly [Name in keyof Settings]: Settings[Name]['value'] } = {
  language: 'auto',
  theme: 'auto',
  textSize: 'normal',
  announcing: 'sentences',
  brevity: 'normal',
  rate: 1,
  model: 'tiny',
  recognizer: '',
  voice: '',
  hub: '',
  welcomed: false,
}

const KEY = 'onsight.settings'

export const settings: Settings = openSettings()

function openSettings(): Settings {
  const stored = readStored()
  const signals = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, value]) => {
      const kept = stored[name]
      return [name, signal(typeof kept === typeof value ? kept : value)]
    }),
  )
  effect(() => {
    const values = Object.fromEntries(Object.entries(signals).map(([name, { value }]) => [name, value]))
    // Private modes may refuse: settings then last as long as the page.
    try {
      localStorage.setItem(KEY, JSON.stringify(values))
    } catch {}
  })
  return signals as unknown as Settings
}

function readStored(): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return typeof stored === 'object' && stored !== null ? { ...stored } : {}
  } catch {
    return {}
  }
}
