/** Chinese in one script or the other: models write what their subtitles had, often mixed. */
import type { ChineseScript } from './languages.ts'

/** Context that makes the model lean to a script: "The following are sentences in Mandarin." */
const STEERING: Readonly<Record<ChineseScript, string>> = {
  Hans: '以下是普通话的句子。',
  Hant: '以下是普通話的句子。',
}

export function scriptContext(script: ChineseScript | undefined): string {
  return script === undefined ? '' : STEERING[script]
}

export type ConvertScript = (text: string) => string

/** Loads the dictionaries, which nobody needs who does not ask for a script. */
export async function loadScriptConverter(script: ChineseScript): Promise<ConvertScript> {
  if (script === 'Hans') {
    const { Converter } = await import('opencc-js/t2cn')
    return Converter({ from: 't', to: 'cn' })
  }
  const { Converter } = await import('opencc-js/cn2t')
  return Converter({ from: 'cn', to: 't' })
}
