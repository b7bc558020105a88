/** What `convert` and `eval` say besides their reports, in English and Chinese. */
import { isChinese } from './messages.ts'

const ENGLISH = {
  loading: 'Loading the model',
  calibrating: 'Calibrating',
  choosing: 'Looking for sensitive matrices',
  writing: 'Writing',
  evaluating: (variant: string) => `Asking ${variant}`,
  left: (time: string) => `${time} left`,
  stopped: 'Stopped. Nothing was left behind.',
  resumable: (path: string) => `Stopped. The same command with --resume ${path} goes on where it stopped.`,
}

export type ConvertMessages = typeof ENGLISH

const CHINESE: ConvertMessages = {
  loading: '正在加载模型',
  calibrating: '正在校准',
  choosing: '正在寻找敏感的矩阵',
  writing: '正在写入',
  evaluating: (variant) => `正在提问 ${variant}`,
  left: (time) => `剩余 ${time}`,
  stopped: '已停止，没有留下任何文件。',
  resumable: (path) => `已停止。同一命令加上 --resume ${path} 会从停止处继续。`,
}

export function convertMessagesFor(env: Readonly<Record<string, string | undefined>>): ConvertMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
