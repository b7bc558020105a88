/** Texts of the conversation about pictures. */
import type { Texts } from './text-table.ts'

export const askTexts = {
  'announce.answering': { en: 'Answering.', zh: '正在回答。' },
  'announce.done': { en: 'Done.', zh: '回答完毕。' },
  'announce.stopped': { en: 'Stopped.', zh: '已停止。' },
  'announce.failed': { en: 'The answer failed.', zh: '回答失败。' },
  'announce.empty': { en: 'The answer is empty.', zh: '没有回答内容。' },
} satisfies Texts
