/** What `onsight inspect` says around its findings, in English and Chinese; findings are English. */
import { isChinese } from './messages.ts'

const ENGLISH = {
  looking: 'Looking at the weights',
  unknown: 'unknown architecture',
  parameters: 'parameters',
  types: 'types',
  decoder: 'decoder',
  decoderShape: (
    layers: number,
    width: number,
    heads: number,
    keyValueHeads: number,
    vocabulary: number,
    context: number,
  ) =>
    `${layers} layers of ${width}, ${heads} heads (${keyValueHeads} for keys and values), ${vocabulary} tokens, context ${context}`,
  pictures: 'pictures',
  pictureShape: (size: number, tokens: number, frames: number, most: number) =>
    `frames of ${size} x ${size} pixels, ${tokens} tokens each; up to ${frames} ${frames === 1 ? 'frame' : 'frames'} (${most} tokens) a picture`,
  memory: 'memory',
  memoryShape: (total: string, weights: string, cache: string, context: number) =>
    `${total}: weights ${weights}, ${cache} for ${context} tokens`,
  template: 'chat template',
  licence: 'licence',
  languages: 'languages',
  read: 'read',
  readOf: (bytes: string, total: string) => `${bytes} of ${total} of weights`,
  none: 'none',
  notStated: 'not stated',
  severities: { error: 'error', warning: 'warning', note: 'note' },
  verdict: (errors: number, warnings: number) =>
    errors + warnings === 0
      ? 'No fault was found.'
      : `Found: ${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`,
}

export type InspectMessages = typeof ENGLISH

const CHINESE: InspectMessages = {
  looking: '正在检查权重',
  unknown: '未知架构',
  parameters: '参数',
  types: '类型',
  decoder: '解码器',
  decoderShape: (layers, width, heads, keyValueHeads, vocabulary, context) =>
    `${layers} 层，宽 ${width}，${heads} 个头（键值 ${keyValueHeads} 个），${vocabulary} 个词元，上下文 ${context}`,
  pictures: '图片',
  pictureShape: (size, tokens, frames, most) =>
    `每帧 ${size} x ${size} 像素、${tokens} 个词元；每张图片最多 ${frames} 帧、${most} 个词元`,
  memory: '内存',
  memoryShape: (total, weights, cache, context) => `${total}：权重 ${weights}，${context} 个词元占 ${cache}`,
  template: '对话模板',
  licence: '许可证',
  languages: '语言',
  read: '已读取',
  readOf: (bytes, total) => `${bytes} / 权重共 ${total}`,
  none: '无',
  notStated: '未注明',
  severities: { error: '错误', warning: '警告', note: '提示' },
  verdict: (errors, warnings) =>
    errors + warnings === 0 ? '没有发现问题。' : `发现 ${errors} 个错误，${warnings} 个警告。`,
}

export function inspectMessagesFor(env: Readonly<Record<string, string | undefined>>): InspectMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
