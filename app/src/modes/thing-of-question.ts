/** "Where are my keys?", "my keys" and "keys" look for the same thing. */
import type { Language } from '../texts/text-table.ts'

const ASKING_EN =
  /^(?:please\s+)?(?:where(?:'s|’s| is| are)|find|look for|search for|is there|are there|do you see|can you see|i am looking for|i'm looking for)\s+/i
const ARTICLE_EN = /^(?:the|a|an|my|our|some|any)\s+/i
const ASKING_ZH = /^(?:请)?(?:帮我)?(?:找一?找|找一下|寻找|看到|有没有|图里有|你看到)(?:了)?/
const OWNER_ZH = /^(?:我的|我们的|一个|一把|一只)/
const ENDING_ZH = /(?:在哪里|在哪儿|在哪|了吗|吗)?[？?。.!！]*$/

export interface FindQuestion {
  readonly thing: string
  /** For the bundled model: this form also knows "no". */
  readonly trained: string
  readonly instruction: string
}

export function findQuestionOf(question: string, language: Language): FindQuestion {
  return language === 'zh' ? inChinese(question) : inEnglish(question)
}

function inEnglish(question: string): FindQuestion {
  const thing = question
    .trim()
    .replace(/[?.!]+$/, '')
    .replace(ASKING_EN, '')
    .replace(ARTICLE_EN, '')
    .trim()
  const one = singularOf(thing)
  return {
    thing,
    trained: `Is there ${/^[aeiou]/i.test(one) ? 'an' : 'a'} ${one}?`,
    instruction: `Is there any ${thing} in the picture? If so, say where: left or right, near or far, on or beside what. If not, say no.`,
  }
}

function inChinese(question: string): FindQuestion {
  const thing = question.trim().replace(ENDING_ZH, '').replace(ASKING_ZH, '').replace(OWNER_ZH, '').trim()
  return {
    thing,
    trained: `图里有${thing}吗？`,
    instruction: `图里有没有${thing}？如果有，请说明位置：左边还是右边，远还是近，在什么东西上面或旁边。如果没有，请直接说没有。`,
  }
}

/** Things of pairs keep their name; the bundled model says "a pair of glasses", which it does not understand as one. */
function singularOf(thing: string): string {
  if (/(?:ss|us|is|glasses|scissors|grapes)$/i.test(thing)) return thing
  if (/(?:ch|sh|x|s)es$/i.test(thing)) return thing.slice(0, -2)
  if (/ies$/i.test(thing)) return `${thing.slice(0, -3)}y`
  return /s$/i.test(thing) ? thing.slice(0, -1) : thing
}
