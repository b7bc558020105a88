/** Texts of the frame: name, navigation, settings. */
import type { Texts } from './text-table.ts'

export const shellTexts = {
  'shell.ask': { en: 'Ask', zh: '提问' },
  'shell.live': { en: 'Live', zh: '实时' },
  'shell.history': { en: 'History', zh: '历史' },
  'shell.models': { en: 'Models', zh: '模型' },
  'shell.settings': { en: 'Settings', zh: '设置' },
  'shell.navigation': { en: 'Main', zh: '主导航' },
  'shell.skip': { en: 'Skip to the content', zh: '跳到内容' },
  'shell.close': { en: 'Close', zh: '关闭' },
  'shell.reload': { en: 'Reload the page', zh: '重新加载页面' },
  'shell.broken': { en: 'This screen stopped working', zh: '此页面出错了' },
  'shell.brokenText': {
    en: 'Nothing that you had is lost: conversations and models are kept on this device.',
    zh: '您的内容没有丢失：对话和模型都保存在本设备上。',
  },
  'shell.brokenDetails': { en: 'What went wrong', zh: '出错详情' },
  'shell.showAgain': { en: 'Show it again', zh: '重新显示' },
  'shell.tinyModel': {
    en: 'The small model that came with this page knows simple drawings of everyday things, coloured shapes and short signs, and nothing else; for photos, get a better one.',
    zh: '本页自带的小模型只认识日常物品的简单图画、彩色图形和短标牌；要看照片，请换一个更好的模型。',
  },
  'shell.betterModels': { en: 'See better models', zh: '查看更好的模型' },
  'shell.understood': { en: 'Got it', zh: '知道了' },
  'shell.description': {
    en: 'Point the camera or pick a photo, ask, and listen: answers are made on this device, also without a network.',
    zh: '对准镜头或选一张照片，提问，听回答：回答在本设备上生成，没有网络也能用。',
  },
  'shell.updateReady': { en: 'There is a new version.', zh: '有新版本。' },
  'shell.update': { en: 'Reload with it', zh: '重新加载并更新' },
  'shell.private': {
    en: 'Everything stays on this device.',
    zh: '一切都留在本设备上。',
  },
} satisfies Texts
