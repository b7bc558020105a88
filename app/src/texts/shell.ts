/** Texts of the frame: name, navigation, settings. */
import type { Texts } from './text-table.ts'

export const shellTexts = {
  'shell.ask': { en: 'Ask', zh: '提问' },
  'shell.live': { en: 'Live', zh: '实时' },
  'shell.history': { en: 'History', zh: '历史' },
  'shell.models': { en: 'Models', zh: '模型' },
  'shell.settings': { en: 'Settings', zh: '设置' },
  'shell.navigation': { en: 'Main', zh: '主导航' },
  'shell.private': {
    en: 'Everything stays on this device.',
    zh: '一切都留在本设备上。',
  },
} satisfies Texts
