/** Times as people and players read them, and subtitles in the forms of SubRip and WebVTT. */
import type { TranscriptSegment } from '../speech/types.ts'

export type SubtitleFormat = 'srt' | 'vtt'

/** `01:02:03.450`; without hours below one hour where they may be left out. */
export function formatTime(seconds: number, { hours = false, mark = '.' } = {}): string {
  const milliseconds = Math.round(seconds * 1000)
  const part = (size: number, count: number): string =>
    String(Math.floor(milliseconds / size) % count).padStart(2, '0')
  const rest = String(milliseconds % 1000).padStart(3, '0')
  const hour = Math.floor(milliseconds / 3_600_000)
  const head = hours || hour > 0 ? `${String(hour).padStart(2, '0')}:` : ''
  return `${head}${part(60_000, 60)}:${part(1000, 60)}${mark}${rest}`
}

/** What stands before the first segment. */
export function subtitleHead(format: SubtitleFormat): string {
  return format === 'vtt' ? 'WEBVTT\n\n' : ''
}

/** One segment with the empty line behind it; `number` counts from 1. */
export function formatSubtitle(
  { start, end, text }: TranscriptSegment,
  number: number,
  format: SubtitleFormat,
): string {
  const time = (seconds: number): string =>
    format === 'vtt' ? formatTime(seconds, { hours: true }) : formatTime(seconds, { hours: true, mark: ',' })
  // An arrow in the text would be read as a time.
  const shown =
    format === 'vtt' ? text.replaceAll('-->', '→').replaceAll('&', '&amp;').replaceAll('<', '&lt;') : text
  return `${format === 'srt' ? `${number}\n` : ''}${time(start)} --> ${time(end)}\n${shown}\n\n`
}
