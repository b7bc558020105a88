/** Texts of the live camera and the assistive modes. */
import type { Texts } from './text-table.ts'

export const liveTexts = {
  'modes.legend': { en: 'What should I do?', zh: '要我做什么？' },
  'modes.describe': { en: 'Describe', zh: '描述' },
  'modes.read': { en: 'Read the text', zh: '读文字' },
  'modes.ahead': { en: 'What is ahead', zh: '前方有什么' },
  'modes.find': { en: 'Find something', zh: '找东西' },
  'modes.changed': { en: 'What changed', zh: '有什么变化' },
} satisfies Texts
