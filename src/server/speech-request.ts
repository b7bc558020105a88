/** The body of a request to `/v1/audio/speech`. */
import { invalidValue, RequestFields } from './request-fields.ts'
import { SOUND_FORMATS, type SoundFormat } from './sound-encoder.ts'

export interface SpeechRequest {
  readonly input: string
  readonly format: SoundFormat
  /** 1 is the pace of the voice. */
  readonly rate: number
}

/** As OpenAI has it. */
const MAX_INPUT_CHARACTERS = 4096
const PACE = { least: 0.5, most: 3 }

export function parseSpeechRequest(body: unknown): SpeechRequest {
  const fields = new RequestFields(body)
  const input = fields.text('input') ?? ''
  if (input.trim() === '' || input.length > MAX_INPUT_CHARACTERS) {
    throw invalidValue('input', `a text of 1 to ${MAX_INPUT_CHARACTERS} characters`, input)
  }
  return {
    input,
    format: fields.choice('response_format', SOUND_FORMATS) ?? 'wav',
    rate: fields.number('speed', PACE) ?? 1,
  }
}
