/** A transcript in the forms that clients ask for. */
import type { TranscriptFinished, TranscriptSegment } from '../speech/types.ts'

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

export function encodeTranscript(transcript: TranscriptFinished, format: TranscriptFormat): Response {
  const { text, language, duration, segments } = transcript
  switch (format) {
    case 'json':
      return Response.json({ text })
    case 'verbose_json':
      return Response.json({
        task: 'transcribe',
        language,
        duration,
        text,
        segments: segments.map((segment, id) => ({ id, ...segment })),
      })
    case 'text':
      return plain(`${text}\n`)
    case 'srt':
      return plain(segments.map((segment, index) => `${index + 1}\n${cue(segment, ',')}`).join('\n'))
    case 'vtt':
      return plain(`WEBVTT\n\n${segments.map((segment) => cue(segment, '.')).join('\n')}`)
    default:
      return format satisfies never
  }
}

function plain(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
}

function cue({ start, end, text }: TranscriptSegment, point: string): string {
  return `${time(start, point)} --> ${time(end, point)}\n${text}\n`
}

/** `00:01:02,500` */
function time(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(two).join(':')
  return `${clock}${point}${String(ms % 1000).padStart(3, '0')}`
}
