/** Which of a system's voices speaks a language: not the first one, which may be a joke or an accent. */
import type { PlatformVoice } from './speech-programs.ts'

/** Of a language that is named alone. */
const COMMON_REGIONS: Readonly<Record<string, string>> = {
  en: 'en-us',
  zh: 'zh-cn',
  de: 'de-de',
  es: 'es-es',
  fr: 'fr-fr',
  it: 'it-it',
  pt: 'pt-br',
}
/** The good ones of macOS; names in brackets are of voices that a person fetched. */
const PREFERRED =
  /\((?:Premium|Enhanced)\)|^(?:Samantha|Alex|Daniel|Karen|Ting-?[Tt]ing|Mei-?[Jj]ia|Sin-?[Jj]i|Anna|Thomas|Monica|Alice|Luciana)$/
/** Sound effects and singers of macOS, and its synthetic family, which comes with every language. */
const NOVELTIES =
  /^(?:Albert|Bad News|Bahh|Bells|Boing|Bubbles|Cellos|Deranged|Fred|Good News|Hysterical|Jester|Junior|Kathy|Organ|Pipe Organ|Princess|Ralph|Superstar|Trinoids|Whisper|Wobble|Zarvox|Bruce|Agnes|Vicki|(?:Eddy|Flo|Grandma|Grandpa|Reed|Rocko|Sandy|Shelley)(?: \(.*\))?)$/

/** The tag itself, the region of the system, the common region, then any of the language; of several, the best. */
export function chooseVoice(
  voices: readonly PlatformVoice[],
  language: string,
  locale: string,
): PlatformVoice | undefined {
  const base = baseOf(language)
  const same = voices.filter((voice) => baseOf(voice.language) === base)
  const wanted = [language, ...(baseOf(locale) === base ? [locale] : []), COMMON_REGIONS[base] ?? base, base]
  const groups = wanted.map((tag) =>
    same.filter((voice) => voice.language.toLowerCase() === tag.toLowerCase()),
  )
  const ordered = [...groups.flat(), ...same]
  return (
    ordered.find(({ name }) => PREFERRED.test(name)) ??
    ordered.find(({ name }) => !NOVELTIES.test(name)) ??
    ordered[0]
  )
}

/** `zh` of `zh-TW`, `cmn-Hant` and `zh_CN`. */
export function baseOf(tag: string): string {
  const base = tag.toLowerCase().split(/[-_]/)[0] ?? ''
  return base === 'cmn' ? 'zh' : base
}

/** `en-US` of `en_US.UTF-8`; empty where nothing is set. */
export function localeOf(env: NodeJS.ProcessEnv): string {
  const text = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || ''
  return /^[a-z]{2,3}(?:_[A-Za-z]+)?/.exec(text)?.[0].replace('_', '-') ?? ''
}
