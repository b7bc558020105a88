/** `/v1/audio/transcriptions` and `/v1/audio/speech`: what is said in a file, and text as sound. */
import type { AudioDecoder } from '../audio/decoder.ts'
import { EngineError } from '../shared/errors.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { Recognizer, TranscriptFinished, Voice } from '../speech/types.ts'
import { type Admission, type Admitted, endOf } from './admission.ts'
import { streamBytes } from './byte-stream.ts'
import { readJson } from './read-body.ts'
import type { RequestRecord } from './request-record.ts'
import { encodeSound } from './sound-encoder.ts'
import { parseSpeechRequest, type SpeechRequest } from './speech-request.ts'
import { encodeTranscript } from './transcript-encoder.ts'
import { readTranscriptionForm } from './transcription-form.ts'

/** What hears and speaks for clients. */
export interface AudioServices {
  readonly recognizer?: Recognizer
  readonly voice?: Voice
  /** Reads the files that are sent. */
  readonly decoder: AudioDecoder
}

/** A minute and a half of speech: who plays it as it comes does not keep the voice from the next one for long. */
const MAX_UNREAD_BYTES = 4 * 2 ** 20

export class AudioRoutes {
  readonly #services: AudioServices
  readonly #maxBodyBytes: number
  readonly #admission: Admission

  constructor(services: AudioServices, maxBodyBytes: number, admission: Admission) {
    this.#services = services
    this.#maxBodyBytes = maxBodyBytes
    this.#admission = admission
  }

  transcribe(request: Request, record: RequestRecord): Promise<Response> {
    const { recognizer, decoder } = this.#services
    if (!recognizer) throw notOffered('No recogniser was loaded.', '--recognizer')
    record.model = recognizer.info.name
    return this.#admission.admit('sound', request, record, async ({ life, turn, close }) => {
      const { file, format, ...options } = await readTranscriptionForm(
        request,
        this.#maxBodyBytes,
        life.signal,
      )
      const source = createMemorySource(file.name || 'file', new Uint8Array(await file.arrayBuffer()))
      await turn()
      const clips = decoder.decode(source, life.signal)
      const events = recognizer.transcribe(clips, { ...options, signal: life.signal })
      let finished: TranscriptFinished | undefined
      for await (const event of events) if (event.type === 'transcript-finished') finished = event
      if (life.error) throw life.error
      if (!finished) throw new Error('The transcript has no end.')
      close()
      return encodeTranscript(finished, format)
    })
  }

  speak(request: Request, record: RequestRecord): Promise<Response> {
    const { voice } = this.#services
    if (!voice) throw notOffered('No voice was loaded.', '--voice')
    record.model = voice.info.name
    return this.#admission.admit('sound', request, record, async (admitted) => {
      const { life } = admitted
      const asked = parseSpeechRequest(await readJson(request, this.#maxBodyBytes, life.signal))
      const sound = speakNow(voice, asked, admitted)
      // The first piece tells whether it works at all, while a failure can still have a status.
      const first = await sound.next()
      record.defer()
      const body = streamBytes(recorded(first, sound, admitted), {
        maxUnreadBytes: MAX_UNREAD_BYTES,
        onLost: (why) => life.end(why),
      })
      return new Response(body, {
        headers: { 'content-type': asked.format === 'wav' ? 'audio/wav' : 'audio/pcm' },
      })
    })
  }
}

/** Waits for its turn, then speaks. Ends its admission, whatever happens. */
async function* speakNow(
  voice: Voice,
  { input, rate, format }: SpeechRequest,
  { life, turn, close }: Admitted,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    await turn()
    yield* encodeSound(voice.synthesize(input, { rate, signal: life.signal }), format, voice.info.sampleRate)
    if (life.error) throw life.error
  } finally {
    close()
  }
}

/** A stream that has begun cannot change its status any more, but the log tells how it ended. */
async function* recorded(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
  { life, record }: Admitted,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } catch (thrown) {
    const error = endOf(life, thrown)
    record.fail(error)
    throw error
  } finally {
    record.end()
  }
}

function notOffered(message: string, option: string): EngineError {
  return new EngineError('server/not-offered', { message, hint: `Start the server with ${option}.` })
}
