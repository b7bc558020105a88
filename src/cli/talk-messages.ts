/** What `talk` says, in English and Chinese. */
import type { LoopState } from '../assistant/voice-loop/loop-types.ts'
import { isChinese } from './messages.ts'

const ENGLISH = {
  pushToTalk:
    'Press Enter to speak, Enter again when you have finished; what you type is asked. Ctrl-C ends.',
  handsFree: 'Speak when you like; Enter stops an answer, what you type is asked. Ctrl-C ends.',
  states: {
    idle: 'Waiting.',
    listening: 'Listening.',
    thinking: 'Thinking.',
    speaking: 'Speaking.',
  } as Readonly<Record<LoopState, string>>,
  you: (text: string) => `You: ${text}`,
  noWords: 'No words were heard.',
  looksAt: (name: string) => `Looks at ${name}.`,
}

export type TalkMessages = typeof ENGLISH

const CHINESE: TalkMessages = {
  pushToTalk: '按回车键开始说话，说完再按一次；也可以打字提问。Ctrl-C 结束。',
  handsFree: '请随时说话；回车键停止回答，也可以打字提问。Ctrl-C 结束。',
  states: { idle: '等待。', listening: '正在听。', thinking: '正在想。', speaking: '正在说。' },
  you: (text) => `您：${text}`,
  noWords: '没有听到话。',
  looksAt: (name) => `看 ${name}。`,
}

export function talkMessagesFor(env: Readonly<Record<string, string | undefined>>): TalkMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
