/** `/v1/audio/transcriptions` and `/v1/audio/speech`: what is said in a file, and text as sound. */
import type { AudioDecoder } from '../audio/decoder.ts'
import { encodePcm, encodeWavHeader } from '../audio/encode-wav.ts'
import { resample } from '../audio/resampler.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { Recognizer, SpokenPiece, TranscriptFinished, Voice } from '../speech/types.ts'
import { AnswerQueue } from './answer-queue.ts'
import type { CheckedOptions } from './app-options.ts'
import { readBytes, readJson } from './read-json.ts'
import { invalidValue, RequestFields } from './request-fields.ts'
import { RequestLife } from './request-life.ts'
import type { RequestRecord } from './request-record.ts'
import { encodeTranscript, TRANSCRIPT_FORMATS, type TranscriptFormat } from './transcript-encoder.ts'

/** What hears and speaks for clients. */
export interface AudioServices {
  readonly recognizer?: Recognizer
  readonly voice?: Voice
  /** Reads the files that are sent. */
  readonly decoder: AudioDecoder
}

type Reply = (request: Request, life: RequestLife, release: () => void) => Promise<Response>

const SOUND_FORMATS = ['wav', 'pcm'] as const
/** Of `pcm`, as clients expect it. */
const PCM_RATE = 24_000
/** As OpenAI has it. */
const MAX_INPUT_CHARACTERS = 4096
const PACE = { least: 0.5, most: 3 }
const FIELDS = [
  'file',
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'timestamp_granularities[]',
]

export class AudioRoutes {
  readonly #services: AudioServices
  readonly #options: CheckedOptions
  readonly #queue: AnswerQueue
  readonly #lives = new Set<RequestLife>()

  constructor(services: AudioServices, options: CheckedOptions) {
    this.#services = services
    this.#options = options
    this.#queue = new AnswerQueue(options.queueLength)
  }

  transcribe(request: Request, record: RequestRecord): Promise<Response> {
    const { recognizer, decoder } = this.#services
    if (!recognizer) throw notOffered('No recogniser was loaded.', '--recognizer')
    record.model = recognizer.info.name
    return this.#run(request, async (_, life, release) => {
      try {
        const { file, format, ...options } = await readForm(request, this.#options.maxBodyBytes, life.signal)
        const source = createMemorySource(file.name || 'file', new Uint8Array(await file.arrayBuffer()))
        const clips = decoder.decode(source, life.signal)
        const events = recognizer.transcribe(clips, { ...options, signal: life.signal })
        let finished: TranscriptFinished | undefined
        for await (const event of events) if (event.type === 'transcript-finished') finished = event
        if (life.error) throw life.error
        if (!finished) throw new Error('The transcript has no end.')
        return encodeTranscript(finished, format)
      } finally {
        release()
      }
    })
  }

  speak(request: Request, record: RequestRecord): Promise<Response> {
    const { voice } = this.#services
    if (!voice) throw notOffered('No voice was loaded.', '--voice')
    record.model = voice.info.name
    return this.#run(request, async (_, life, release) => {
      const fields = new RequestFields(await readJson(request, this.#options.maxBodyBytes, life.signal))
      const input = fields.text('input') ?? ''
      if (input.trim() === '' || input.length > MAX_INPUT_CHARACTERS) {
        throw invalidValue('input', `a text of 1 to ${MAX_INPUT_CHARACTERS} characters`, input)
      }
      const format = fields.choice('response_format', SOUND_FORMATS) ?? 'wav'
      const rate = fields.number('speed', PACE) ?? 1
      const pieces = voice.synthesize(input, { rate, signal: life.signal })
      // The first piece tells whether it works at all, while a failure can still have a status.
      const first = await pieces.next()
      record.defer()
      const body = soundOf(first, pieces, format, life, () => {
        release()
        record.end()
      })
      return new Response(body, { headers: { 'content-type': format === 'wav' ? 'audio/wav' : 'audio/pcm' } })
    })
  }

  /** Ends what runs. */
  stop(): void {
    for (const life of this.#lives) life.end('stopping')
  }

  /** One at a time; a reply that goes on as a stream calls `release` itself. */
  async #run(request: Request, reply: Reply): Promise<Response> {
    const ticket = this.#queue.take()
    const life = new RequestLife(request.signal, this.#options.requestTimeoutMs)
    this.#lives.add(life)
    const release = (): void => {
      ticket.leave()
      life.close()
      this.#lives.delete(life)
    }
    try {
      await ticket.turn(life.signal)
      return await reply(request, life, release)
    } catch (error) {
      release()
      if (!isAbortError(error)) throw error
      life.end('client-left')
      throw life.error
    }
  }
}

async function readForm(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{
  file: File
  format: TranscriptFormat
  language?: string
  context?: string
  timestamps: boolean
}> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new EngineError('server/content-type', {
      message: `Expected a body of type multipart/form-data, found ${type === '' ? 'none' : `"${type.slice(0, 60)}"`}.`,
    })
  }
  const bytes = await readBytes(request, maxBytes, signal)
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
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

/** Sound as it is made; the header of a WAV stream does not know its length. */
function soundOf(
  first: IteratorResult<SpokenPiece>,
  pieces: AsyncIterableIterator<SpokenPiece>,
  format: (typeof SOUND_FORMATS)[number],
  life: RequestLife,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<SpokenPiece> | undefined = first
  let hasHeader = false
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await pieces.next())
        next = undefined
        if (done) {
          controller.close()
          onEnd()
          return
        }
        const clip = format === 'pcm' ? resample(value, PCM_RATE) : value
        if (format === 'wav' && !hasHeader)
          controller.enqueue(encodeWavHeader(clip.sampleRate, 's16le', undefined))
        hasHeader = true
        controller.enqueue(encodePcm(clip.samples, 's16le'))
      } catch (error) {
        controller.error(error)
        onEnd()
      }
    },
    async cancel() {
      life.end('client-left')
      await pieces.return?.()
      onEnd()
    },
  })
}

function notOffered(message: string, option: string): EngineError {
  return new EngineError('server/not-offered', { message, hint: `Start the server with ${option}.` })
}
