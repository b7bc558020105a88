/** What the command says besides answers, in English and Chinese. Help and errors are English only. */

/** Why a message leaves the device, by the names that routes give. */
const REASONS: Readonly<Record<string, string>> = {
  chosen: 'you chose the remote model',
  preferred: 'you allowed it, and it can be reached',
  'no-local-model': 'there is no model on this device',
  'no-local-pictures': 'the model on this device takes no pictures',
  'local-failed': 'the model on this device failed',
}
const CHINESE_REASONS: Readonly<Record<string, string>> = {
  chosen: '您选择了远程模型',
  preferred: '您已同意，且可以连接',
  'no-local-model': '本设备上没有模型',
  'no-local-pictures': '本设备上的模型不能看图片',
  'local-failed': '本设备上的模型出错了',
}

const ENGLISH = {
  defaultQuestion: 'Describe this picture.',
  tinyModel:
    'The bundled tiny model knows only simple pictures: icon-like objects, coloured shapes, short signs.',
  realModel:
    'For photos name a real one: --model FOLDER or --model FILE.gguf, such as SmolVLM-500M-Instruct.',
  loading: 'Loading the model',
  memoryPlanned: (total: string, limit: string) => `Memory, at most ${total} of ${limit}:`,
  memoryUses: {
    program: 'the program, its threads, compiled code',
    weights: 'weights',
    'run-state': 'computing',
    'keys-and-values': 'keys and values of a conversation',
    'picture-features': 'what pictures became',
    'reading-pictures': 'reading a picture',
  },
  memorySettings: (tokens: number, kv: string, imageTokens: number | undefined) =>
    `Conversations of up to ${tokens} tokens, keys and values ${kv}${imageTokens === undefined ? '' : `, pictures of up to ${imageTokens} tokens`}.`,
  readingPicture: (picture: number) =>
    picture === 1 ? 'Looking at the picture' : `Looking at picture ${picture}`,
  readingPrompt: 'Reading the question',
  sawPicture: (name: string, size: string, used: string, tiles: number, detail: string) =>
    `${name}: ${size}, seen at ${used}${tiles > 1 ? ` in ${tiles} tiles` : ''}, detail ${detail}`,
  sentTo: (host: string, model: string, reason: string) =>
    `This message goes to ${model} at ${host}: ${REASONS[reason] ?? reason}.`,
  mayWeSend: (host: string, model: string, pictures: number) =>
    `Send the question${pictures > 0 ? ` and ${pictures === 1 ? 'the picture' : `${pictures} pictures`}` : ''} to ${model} at ${host}? [y/N] `,
  chatGreeting:
    'Ask away. /image PATH adds a picture to the next message, /again asks for another answer, /edit TEXT asks something else instead, /exit ends.',
  pictureAdded: (path: string) => `${path} goes with the next message.`,
  resumed: (questions: number) => `The conversation goes on after ${countOf(questions, 'question')}.`,
  resumedFromText: (questions: number, missing: number) =>
    `What was said is there (${countOf(questions, 'question')}) and is computed again with the next message.${missing > 0 ? ` ${countOf(missing, 'picture')} cannot be found again.` : ''}`,
  saved: (path: string) => `The conversation is in ${path}; --resume ${path} goes on with it.`,
  stoppedByLength: (tokens: number) => `Stopped after ${tokens} tokens; --max-tokens allows more.`,
  stoppedByRepetition: 'Stopped because the answer repeated itself; --repetition-penalty 1.1 may help.',
  contextTrimmed: (turns: number, pictures: number) =>
    `The conversation is as long as this model can follow. It no longer sees ${countOf(turns, 'old turn')}${pictures > 0 ? ` and ${countOf(pictures, 'old picture')}` : ''}.`,
  contextSummary: (summary: string) => `In their place it keeps: ${summary}`,
  contextFull: 'Stopped because the conversation is as long as this model can follow.',
  measuring: 'Measuring; this takes a while.',
  samplingIsOff:
    'Without --temperature above 0 the likeliest token is always taken; sampling options do nothing.',
  demoPicture: 'Picture',
  demoQuestion: 'Question',
  demoNext: 'How to go on:',
  demoAsk: 'ask something about a picture of yours',
  demoChat: 'have a conversation about it',
  demoModel: 'use a model that knows photos',
}

export type Messages = typeof ENGLISH

const CHINESE: Messages = {
  defaultQuestion: '请描述这张图片。',
  tinyModel: '内置的小模型只认识简单的图片：图标式的物体、彩色图形和简短的牌子。',
  realModel: '要看照片，请指定真正的模型：--model 文件夹 或 --model 文件.gguf，例如 SmolVLM-500M-Instruct。',
  loading: '正在加载模型',
  memoryPlanned: (total, limit) => `内存，最多 ${total}，上限 ${limit}：`,
  memoryUses: {
    program: '程序、线程和编译后的代码',
    weights: '权重',
    'run-state': '计算',
    'keys-and-values': '一个对话的键和值',
    'picture-features': '图片特征',
    'reading-pictures': '读取一张图片',
  },
  memorySettings: (tokens, kv, imageTokens) =>
    `对话最长 ${tokens} 个词元，键和值 ${kv}${imageTokens === undefined ? '' : `，每张图片最多 ${imageTokens} 个词元`}。`,
  readingPicture: (picture) => (picture === 1 ? '正在看图片' : `正在看第 ${picture} 张图片`),
  readingPrompt: '正在读问题',
  sawPicture: (name, size, used, tiles, detail) =>
    `${name}：${size}，按 ${used} 查看${tiles > 1 ? `，分成 ${tiles} 块` : ''}，细节 ${detail}`,
  sentTo: (host, model, reason) =>
    `此消息将发送到 ${host} 的 ${model}：${CHINESE_REASONS[reason] ?? reason}。`,
  mayWeSend: (host, model, pictures) =>
    `要把问题${pictures > 0 ? `和 ${pictures} 张图片` : ''}发送到 ${host} 的 ${model} 吗？[y/N] `,
  chatGreeting:
    '请提问。/image 路径 为下一条消息添加图片，/again 重新回答，/edit 文字 改问别的，/exit 结束。',
  pictureAdded: (path) => `${path} 将随下一条消息发送。`,
  resumed: (questions) => `对话已恢复，之前有 ${questions} 个问题。`,
  resumedFromText: (questions, missing) =>
    `对话文字已恢复（${questions} 个问题），将随下一条消息重新计算。${missing > 0 ? `有 ${missing} 张图片找不到了。` : ''}`,
  saved: (path) => `对话保存在 ${path}；用 --resume ${path} 继续。`,
  stoppedByLength: (tokens) => `已在 ${tokens} 个词元后停止；用 --max-tokens 可以更长。`,
  stoppedByRepetition: '回答开始重复，已停止；可以试试 --repetition-penalty 1.1。',
  contextTrimmed: (turns, pictures) =>
    `对话已达到此模型的最大长度。它不再看到 ${turns} 条旧消息${pictures > 0 ? `和 ${pictures} 张旧图片` : ''}。`,
  contextSummary: (summary) => `它保留的摘要：${summary}`,
  contextFull: '对话已达到此模型的最大长度，已停止。',
  measuring: '正在测量，需要一些时间。',
  samplingIsOff: '--temperature 不大于 0 时总是取最可能的词元，采样选项不起作用。',
  demoPicture: '图片',
  demoQuestion: '问题',
  demoNext: '接下来可以：',
  demoAsk: '就你自己的图片提问',
  demoChat: '围绕图片对话',
  demoModel: '使用认识照片的模型',
}

function countOf(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** Chinese when the locale of messages begins with `zh`, else English. */
export function messagesFor(env: Readonly<Record<string, string | undefined>>): Messages {
  return isChinese(env) ? CHINESE : ENGLISH
}

export function isChinese(env: Readonly<Record<string, string | undefined>>): boolean {
  return /^zh/i.test(env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || '')
}
