/** The form of `/v1/audio/transcriptions`: a file, and what is wanted of it. */
import { EngineError } from '../shared/errors.ts'
import { readBytes } from './read-body.ts'
import { invalidValue } from './request-fields.ts'
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from './transcript-encoder.ts'

export interface TranscriptionForm {
  readonly file: File
  readonly format: TranscriptFormat
  readonly language?: string
  readonly context?: string
  readonly timestamps: boolean
}

const FIELDS = [
  'file',
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'timestamp_granularities[]',
]

/** Throws `server/…`; rejects with an `AbortError`. */
export async function readTranscriptionForm(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<TranscriptionForm> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new EngineError('server/content-type', {
      message: `Expected a body of type multipart/form-data, found ${type === '' ? 'none' : `"${type.slice(0, 60)}"`}.`,
    })
  }
  const bytes = await readBytes(request, maxBytes, signal)
  const form = await new Response(bytes, { headers: { 'content-type': type } })
    .formData()
    .catch((cause: unknown) => {
      throw new EngineError('server/bad-form', { message: 'The form could not be read.', cause })
    })
  for (const name of form.keys()) {
    if (!FIELDS.includes(name)) {
      throw new EngineError('server/unsupported-parameter', {
        message: `"${name.slice(0, 60)}" is not supported here; fields are ${FIELDS.join(', ')}.`,
        field: name.slice(0, 60),
      })
    }
  }
  const text = (name: string): string | undefined => {
    const value = form.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const file = form.get('file')
  if (file === null || typeof file === 'string') throw invalidValue('file', 'a sound file', file)
  const wanted = text('response_format') ?? 'json'
  const format = TRANSCRIPT_FORMATS.find((name) => name === wanted)
  if (format === undefined)
    throw invalidValue('response_format', `one of ${TRANSCRIPT_FORMATS.join(', ')}`, wanted)
  const language = text('language')
  const context = text('prompt')
  return {
    file,
    format,
    timestamps: format !== 'json' && format !== 'text',
    ...(language !== undefined && { language }),
    ...(context !== undefined && { context }),
  }
}
