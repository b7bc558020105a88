/** What the commands of the model store say, in English and Chinese. */
import type { RestartReason } from '../hub/download-file.ts'
import { isChinese } from './messages.ts'

const ENGLISH = {
  fetching: 'Fetching',
  checking: 'Checking',
  plan: (id: string, files: number, size: string) =>
    `${id}: ${files} ${files === 1 ? 'file' : 'files'}, ${size}`,
  alreadyThere: (size: string) => `${size} of it are here from an earlier try`,
  licence: (name: string) => `licence ${name}`,
  left: (time: string) => `${time} left`,
  retrying: (reason: string, seconds: string) => `${reason} Trying again in ${seconds} s.`,
  restarted: (file: string, reason: RestartReason) => `${file}: ${ENGLISH_REASONS[reason]}; begun anew.`,
  stored: (reference: string) => `Stored. Use it with: onsight describe PICTURE --model ${reference}`,
  wasStored: (id: string) => `${id} is stored already; nothing was fetched.`,
  stopped: 'Stopped. The same command goes on where it stopped.',
  nothingStored: 'Nothing is stored. onsight pull smolvlm-500m fetches a model for photos.',
  unfinished: 'unfinished',
  intact: 'intact',
  damaged: 'damaged',
  repair: (reference: string) => `To fetch it anew: onsight rm ${reference}, then onsight pull ${reference}`,
  removed: (id: string, size: string) => `${id} removed, ${size} free again.`,
}

const ENGLISH_REASONS: Readonly<Record<RestartReason, string>> = {
  changed: 'the file was changed on the server',
  'ranges-ignored': 'the server cannot go on in the middle',
  'wrong-hash': 'what was there did not fit together',
}

export type HubMessages = typeof ENGLISH

const CHINESE: HubMessages = {
  fetching: '正在下载',
  checking: '正在校验',
  plan: (id, files, size) => `${id}：${files} 个文件，${size}`,
  alreadyThere: (size) => `其中 ${size} 上次已下载`,
  licence: (name) => `许可证 ${name}`,
  left: (time) => `剩余 ${time}`,
  retrying: (reason, seconds) => `${reason} ${seconds} 秒后重试。`,
  restarted: (file, reason) => `${file}：${CHINESE_REASONS[reason]}，重新下载。`,
  stored: (reference) => `已保存。使用方法：onsight describe 图片 --model ${reference}`,
  wasStored: (id) => `${id} 已经保存，没有下载任何内容。`,
  stopped: '已停止。再次运行同一命令会从停止处继续。',
  nothingStored: '还没有保存任何模型。onsight pull smolvlm-500m 可下载一个认识照片的模型。',
  unfinished: '未完成',
  intact: '完好',
  damaged: '已损坏',
  repair: (reference) => `重新下载：先 onsight rm ${reference}，再 onsight pull ${reference}`,
  removed: (id, size) => `已删除 ${id}，释放 ${size}。`,
}

const CHINESE_REASONS: Readonly<Record<RestartReason, string>> = {
  changed: '服务器上的文件已改变',
  'ranges-ignored': '服务器不支持断点续传',
  'wrong-hash': '已有部分与文件不符',
}

export function hubMessagesFor(env: Readonly<Record<string, string | undefined>>): HubMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
