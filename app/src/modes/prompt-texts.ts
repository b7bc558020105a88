/** What models are asked, by mode and language. These are words for models; people read those of `texts`. */
import type { Language } from '../texts/text-table.ts'
import type { Mode } from './modes.ts'
import type { Brevity } from './prompts.ts'

type Words = Readonly<Record<Language, string>>

/** To the letter as the bundled model was trained (test/golden/tiny-cases/cases.jsonl). */
export const TRAINED_QUESTIONS: Readonly<Record<Mode, Words>> = {
  describe: { en: 'Describe this picture.', zh: '请描述这张图片。' },
  read: { en: 'Read the text.', zh: '读一下文字。' },
  // Its descriptions say where things are; hazards and directions are put in order afterwards.
  ahead: { en: 'Describe this picture.', zh: '请描述这张图片。' },
  find: { en: 'List the objects.', zh: '列出图中的物体。' },
  changed: { en: 'Describe this picture.', zh: '请描述这张图片。' },
}

export const INSTRUCTIONS: Readonly<Record<Mode | 'changedSince', Words>> = {
  describe: {
    en: 'Describe what you see.',
    zh: '请描述你看到的内容。',
  },
  read: {
    en: 'Read all the text in the picture exactly as it is written, line by line. If there is no text, say that there is none.',
    zh: '请逐字逐行读出图中的所有文字，不要改动。如果没有文字，请直接说没有文字。',
  },
  ahead: {
    en: 'Say what is ahead of me. Begin with hazards such as vehicles, steps, holes and obstacles. Say where each thing is, with clock directions: 12 o’clock is straight ahead, 11 is left, 1 is right.',
    zh: '请说明我前方有什么。先说危险，例如车辆、台阶、坑洞和障碍物。请用钟点方向说明每样东西的位置：12 点是正前方，11 点在左边，1 点在右边。',
  },
  find: {
    en: 'List the things you can see and where each one is.',
    zh: '请列出你看到的物品以及各自的位置。',
  },
  changed: {
    en: 'Describe what you see.',
    zh: '请描述你看到的内容。',
  },
  changedSince: {
    en: 'A moment ago the scene was described like this: "{earlier}" Say only what is new, gone or moved. If nothing changed, say "No change."',
    zh: '刚才的画面是这样描述的：“{earlier}”请只说新出现、消失或移动了的东西。如果没有变化，请说“没有变化。”',
  },
}

export const BREVITY_WORDS: Readonly<Record<Brevity, Words>> = {
  short: { en: 'Answer in one short sentence.', zh: '请用一句短话回答。' },
  normal: { en: 'Answer in two or three sentences.', zh: '请用两三句话回答。' },
  full: { en: 'Answer in detail.', zh: '请详细回答。' },
}

export const UNCERTAINTY_WORDS: Words = {
  en: 'If you are not sure of something, say so. Do not guess.',
  zh: '不确定的地方请说明，不要猜测。',
}
