/** Languages by the tags that people write and by the codes that Whisper's tokens have. */
import { EngineError } from '../../shared/errors.ts'
import type { LanguageTag } from '../types.ts'

/** In the order of the token ids; the last one came with large-v3. Whisper's `jw` is BCP 47's `jv`. */
export const WHISPER_LANGUAGES: readonly string[] = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ' +
  'ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd ' +
  'gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue'
).split(' ')

/** Other names of the same languages. */
const ALIASES: Readonly<Record<string, string>> = {
  jv: 'jw',
  nb: 'no',
  fil: 'tl',
  iw: 'he',
  in: 'id',
  cmn: 'zh',
}

/** Which characters Chinese is written in: `Hans` as in `zh-CN`, `Hant` as in `zh-TW`. */
export type ChineseScript = 'Hans' | 'Hant'

export interface RequestedLanguage {
  /** Whisper's code; undefined: to be detected. */
  readonly code: string | undefined
  readonly script: ChineseScript | undefined
}

const TAG = /^[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*$/i
const TRADITIONAL = /^(?:hant|tw|hk|mo)$/
const SIMPLIFIED = /^(?:hans|cn|sg|my)$/

/** @throws EngineError `option/invalid` for what is no language tag. */
export function parseLanguage(tag: LanguageTag): RequestedLanguage {
  if (tag === 'auto') return { code: undefined, script: undefined }
  if (!TAG.test(tag)) {
    throw new EngineError('option/invalid', {
      message: `The language must be "auto" or a tag such as "en", "zh" or "zh-Hant"; found ${JSON.stringify(tag)}.`,
    })
  }
  const [primary = '', ...rest] = tag.toLowerCase().split(/[-_]/)
  const code = ALIASES[primary] ?? primary
  if (code !== 'zh' && code !== 'yue') return { code, script: undefined }
  const script = rest.some((part) => TRADITIONAL.test(part))
    ? 'Hant'
    : rest.some((part) => SIMPLIFIED.test(part))
      ? 'Hans'
      : undefined
  return { code, script }
}

/** The tag of a code, with the script where one was asked for. */
export function formatLanguage(code: string, script: ChineseScript | undefined): LanguageTag {
  const tag = code === 'jw' ? 'jv' : code
  return script === undefined || (code !== 'zh' && code !== 'yue') ? tag : `${tag}-${script}`
}
