/** Texts of models and downloads. */
import type { Texts } from './text-table.ts'

export const modelTexts = {
  'models.loading': { en: 'Loading the model {name}', zh: '正在加载模型 {name}' },
  'models.tryAgain': { en: 'Try again', zh: '重试' },
  'models.useBundled': { en: 'Use the small model for now', zh: '先用自带小模型' },
  'models.takeOver': { en: 'Use it here', zh: '在此处使用' },
  'models.seeModels': { en: 'See models', zh: '查看模型' },
  'models.putAway': { en: 'Got it', zh: '知道了' },
  'models.failedTitle': { en: 'The model {name} could not be loaded.', zh: '无法加载模型 {name}。' },
  'models.details': { en: 'What went wrong', zh: '出错详情' },
  'models.elsewhere': {
    en: 'Onsight is open in another tab, which has the model {name}. Two would need more memory than most devices have.',
    zh: 'Onsight 已在另一个标签页中打开，模型 {name} 正在那里使用。同时加载两份会超出大多数设备的内存。',
  },
  'models.lost': {
    en: 'The engine stopped twice in a short time, most likely because memory ran out. Your conversation is still here.',
    zh: '引擎在短时间内停止了两次，很可能是内存不足。您的对话仍在。',
  },
  'models.unreachable': {
    en: 'A part of the page could not be fetched. Check the connection and try again.',
    zh: '页面的一部分无法获取。请检查网络连接后重试。',
  },
  'models.noWorker': {
    en: 'The browser did not start the engine. Reload the page; if that does not help, update the browser.',
    zh: '浏览器未能启动引擎。请重新加载页面；如果仍不行，请更新浏览器。',
  },
  'models.otherFailure': {
    en: 'Try again; if that does not help, reload the page.',
    zh: '请重试；如果仍不行，请重新加载页面。',
  },
  'models.missing': {
    en: 'The model {name} is not on this device any more: the browser may have cleared it to make room. The small model answers until you download it again.',
    zh: '模型 {name} 已不在本设备上：浏览器可能为腾出空间将其清除。在您重新下载之前，由自带小模型回答。',
  },
  'models.damaged': {
    en: 'The model {name} is damaged. The small model answers until you download it again.',
    zh: '模型 {name} 已损坏。在您重新下载之前，由自带小模型回答。',
  },
  'models.tooLarge': {
    en: 'The model {name} needs more memory than this device gives a page. The small model answers; a smaller one may fit.',
    zh: '模型 {name} 所需内存超出本设备能给网页的内存。现由自带小模型回答；更小的模型或许可用。',
  },
  'models.crashed': {
    en: 'The page was closed by the browser while it loaded the model {name}, most likely because memory ran out. The small model answers now.',
    zh: '在加载模型 {name} 时，浏览器关闭了页面，很可能是内存不足。现由自带小模型回答。',
  },
} satisfies Texts
