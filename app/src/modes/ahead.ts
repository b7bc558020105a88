/**
 * What is ahead, from a description that says "left" and "right": hazards first, places as directions of a clock. For models
 * that cannot be asked to do so themselves. Pure.
 */
import type { Language } from '../texts/text-table.ts'

/**
 * A camera of a phone sees about 60 degrees, which are two hours of a clock: what it has on its left is at 11, not at 9.
 * Longer names first.
 */
const PLACES: Readonly<Record<Language, readonly (readonly [RegExp, string])[]>> = {
  en: [
    [
      /\b(?:at|on|in|to) the (?:(?:top|bottom|upper|lower|far)[ -])?left(?: (?:side|corner|hand side))?\b/gi,
      'at 11 o’clock',
    ],
    [
      /\b(?:at|on|in|to) the (?:(?:top|bottom|upper|lower|far)[ -])?right(?: (?:side|corner|hand side))?\b/gi,
      'at 1 o’clock',
    ],
    [/\b(?:at|on|in) the (?:top|bottom|center|centre|middle)\b/gi, 'at 12 o’clock'],
  ],
  zh: [
    [/(?:在)?(?:左上角|左下角|左上方|左下方|左侧|左边|左方)/g, '11 点钟方向'],
    [/(?:在)?(?:右上角|右下角|右上方|右下方|右侧|右边|右方)/g, '1 点钟方向'],
    [/(?:在)?(?:正中间|中间|中央|上方|下方|前方)/g, '12 点钟方向'],
  ],
}

/** What one can run into, fall over or be hurt by; signs and lights belong to them. */
const HAZARDS: Readonly<Record<Language, RegExp>> = {
  en: /\b(?:vehicles?|cars?|automobiles?|bus(?:es)?|trucks?|vans?|trains?|trams?|bicycles?|bikes?|motorcycles?|scooters?|fire engines?|fires?|flames?|stairs?|steps?|staircases?|curbs?|kerbs?|holes?|pits?|edges?|poles?|posts?|bollards?|ladders?|knives|knife|scissors|dogs?|traffic lights?|stop signs?|obstacles?|barriers?|water|ice|cables?|wires?|cords?)\b/i,
  zh: /车|火|台阶|楼梯|坑|洞|柱|杆|梯子|刀|狗|红绿灯|停车标志|障碍|路沿|栏杆|水坑|冰|电线|边缘/,
}

export function isHazard(phrase: string): boolean {
  return HAZARDS.en.test(phrase) || HAZARDS.zh.test(phrase)
}

/** @returns The phrases with directions, hazards first, otherwise in their order. */
export function arrangeAhead(phrases: readonly string[]): string[] {
  const hazards = phrases.filter(isHazard)
  const others = phrases.filter((phrase) => !isHazard(phrase))
  return [...hazards, ...others].map(withDirection)
}

function withDirection(phrase: string): string {
  const places = /\p{Script=Han}/u.test(phrase) ? PLACES.zh : PLACES.en
  for (const [place, direction] of places) {
    const told = phrase.replace(place, direction)
    if (told !== phrase) return told
  }
  return phrase
}
