/** What `serve` says, in English and Chinese. */
import { isChinese } from './messages.ts'

const ENGLISH = {
  warmingUp: 'Warming up',
  listening: (model: string, url: string) => `${model} answers at ${url}/v1`,
  example: 'For example:',
  remotePictures: 'Pictures are fetched from addresses of the public internet that requests name.',
  stopping: 'Stopping: answers that run are finished first. Ctrl-C again leaves at once.',
  request: (route: string, status: number, seconds: string, tokens: string) =>
    `${route} ${status} ${seconds} s${tokens}`,
  tokens: (prompt: number, cached: number, completion: number) =>
    `, ${prompt} tokens read (${cached} known), ${completion} written`,
}

export type ServeMessages = typeof ENGLISH

const CHINESE: ServeMessages = {
  warmingUp: '正在预热',
  listening: (model, url) => `${model} 的地址：${url}/v1`,
  example: '例如：',
  remotePictures: '请求中公网地址的图片会被下载。',
  stopping: '正在停止：先完成进行中的回答。再按一次 Ctrl-C 立即退出。',
  request: (route, status, seconds, tokens) => `${route} ${status} ${seconds} 秒${tokens}`,
  tokens: (prompt, cached, completion) => `，读 ${prompt} 词元（已知 ${cached}），写 ${completion}`,
}

export function serveMessagesFor(env: Readonly<Record<string, string | undefined>>): ServeMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
