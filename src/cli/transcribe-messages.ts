/** What `transcribe` says, in English and Chinese. */
import { isChinese } from './messages.ts'

const ENGLISH = {
  nothingHeard: 'Nobody speaks in this recording.',
  heard: (language: string, percent: number, seconds: string, speed: string) =>
    `${language}${percent < 100 ? ` (${percent} % sure)` : ''}, ${seconds} of sound, ${speed} times as fast as it was spoken`,
}

export type TranscribeMessages = typeof ENGLISH

const CHINESE: TranscribeMessages = {
  nothingHeard: '这段录音里没有人说话。',
  heard: (language, percent, seconds, speed) =>
    `${language}${percent < 100 ? `（把握 ${percent}%）` : ''}，声音 ${seconds}，速度是说话的 ${speed} 倍`,
}

export function transcribeMessagesFor(env: Readonly<Record<string, string | undefined>>): TranscribeMessages {
  return isChinese(env) ? CHINESE : ENGLISH
}
