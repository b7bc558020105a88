/** From the request of an answer to its response: read, wait, answer, as one body or as a stream. */
import type { AnswerFinished, ChatEvent, ChatTurn, ScoredAnswerToken } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import { type Admission, type Admitted, endOf } from './admission.ts'
import type { AnswerRequest } from './answer-request.ts'
import type { CheckedOptions } from './app-options.ts'
import { PING_MS } from './byte-stream.ts'
import { encodeEmbeddings, parseEmbeddingsRequest } from './embeddings.ts'
import { refusalOf } from './error-body.ts'
import { streamEvents } from './event-stream.ts'
import type { Gauge } from './metrics.ts'
import { loadTurns } from './pictures.ts'
import { readJson } from './read-body.ts'
import type { RequestLife } from './request-life.ts'
import type { RequestRecord } from './request-record.ts'
import { locateSchemaError } from './response-format.ts'
import { type QuestionTurn, ServedModel } from './served-model.ts'
import type { AnswerEncoder, EncoderFactory } from './wire-answer.ts'

/** A route that answers: how its body is read, and how its answers are written. */
export interface AnswerRoute {
  readonly parse: (body: unknown) => AnswerRequest
  readonly createEncoder: EncoderFactory
}

export class Answering {
  readonly served: readonly ServedModel[]
  readonly #options: CheckedOptions
  readonly #admission: Admission

  constructor(options: CheckedOptions, admission: Admission) {
    this.#options = options
    this.#admission = admission
    this.served = Object.entries(options.models).map(
      ([id, model]) => new ServedModel(id, model, options.keptConversations),
    )
  }

  get gauges(): readonly Gauge[] {
    const perModel = (read: (served: ServedModel) => number) => () =>
      this.served.map((served) => ({ model: served.id, value: read(served) }))
    return [
      {
        name: 'onsight_model_memory_bytes',
        help: 'Memory of weights, run state and conversations.',
        read: perModel(({ model }) => model.info.allocatedBytes),
      },
      {
        name: 'onsight_conversations_kept',
        help: 'Conversations kept for a next question.',
        read: perModel(({ keptConversations }) => keptConversations),
      },
    ]
  }

  /** Throws `server/model-not-found`. */
  find(id: string | undefined): ServedModel {
    const found = id === undefined ? this.served[0] : this.served.find((served) => served.id === id)
    if (found) return found
    throw new EngineError('server/model-not-found', {
      message: `There is no model "${id?.slice(0, 100)}" here; there ${this.served.length === 1 ? 'is' : 'are'} ${this.served.map((served) => served.id).join(', ')}.`,
      field: 'model',
    })
  }

  respond(request: Request, route: AnswerRoute, record: RequestRecord): Promise<Response> {
    return this.#admit(request, record, async (admitted, body) => {
      const { life } = admitted
      const asked = route.parse(body)
      const served = this.find(asked.model)
      record.model = served.id
      const turns = await loadTurns(
        [...asked.history, asked.question],
        this.#options.loadRemotePicture,
        life.signal,
      )
      const identity = {
        id: crypto.randomUUID().replaceAll('-', ''),
        model: served.id,
        created: Math.floor(Date.now() / 1000),
      }
      const encoder = route.createEncoder(identity, asked)
      const events = this.#answer(served, turns, asked, admitted)
      if (asked.isStream) return await this.#stream(events, encoder, admitted)
      return Response.json(await collect(events, encoder))
    })
  }

  embed(request: Request, record: RequestRecord): Promise<Response> {
    return this.#admit(request, record, async (admitted, body) => {
      const { life, turn, close } = admitted
      const asked = parseEmbeddingsRequest(body)
      const served = this.find(asked.model)
      record.model = served.id
      await turn()
      const embeddings = await served.model.embed(asked.texts, { signal: life.signal })
      const answer = encodeEmbeddings(served.id, asked, embeddings)
      record.embedded(embeddings.reduce((sum, { tokens }) => sum + tokens, 0))
      close()
      return Response.json(answer)
    })
  }

  #admit(
    request: Request,
    record: RequestRecord,
    work: (admitted: Admitted, body: unknown) => Promise<Response>,
  ): Promise<Response> {
    return this.#admission.admit('answers', request, record, async (admitted) =>
      work(admitted, await readJson(request, this.#options.maxBodyBytes, admitted.life.signal)),
    )
  }

  /** Closes the conversations that are kept. Nothing may run any more. */
  dispose(): void {
    for (const served of this.served) served.dispose()
  }

  /** Waits for its turn, then answers. Ends its ticket, whatever happens. */
  async *#answer(
    served: ServedModel,
    turns: readonly ChatTurn[],
    { generation, isPlain, format }: AnswerRequest,
    { life, record, turn, close }: Admitted,
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    try {
      await turn()
      const question = turns.at(-1) as QuestionTurn
      const options = { ...generation, signal: life.signal }
      const events = served.answer(turns.slice(0, -1), question, options, { isPlain })
      for await (const event of events) {
        if (event.type !== 'answer-finished') {
          yield event
          continue
        }
        if (life.error) throw life.error
        const { cachedTokens } = event.usage
        record.answered(event, cachedTokens)
        yield { type: 'answer-finished', finished: event, cachedTokens }
      }
    } catch (error) {
      throw locateSchemaError(error, format.schemaField)
    } finally {
      close()
    }
  }

  /**
   * The response waits for the first word, so that what fails before it has a status of its own; but not for longer
   * than silence is tolerated.
   */
  async #stream(
    events: AsyncGenerator<AnswerEvent, void, undefined>,
    encoder: AnswerEncoder,
    { life, record }: Admitted,
  ): Promise<Response> {
    const first = nextSpoken(events)
    let timer: ReturnType<typeof setTimeout> | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PING_MS)
    })
    try {
      await Promise.race([first, patience])
    } finally {
      clearTimeout(timer)
    }
    record.defer()
    const texts = encodeAnswer(first, events, encoder, life, record)
    return new Response(streamEvents(texts, { onLost: (why) => life.end(why) }), {
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      },
    })
  }
}

async function collect(events: AsyncIterable<AnswerEvent>, encoder: AnswerEncoder): Promise<unknown> {
  let body: unknown
  for await (const event of events) if (event.type === 'answer-finished') body = encoder.whole(event)
  if (body === undefined) throw new Error('The answer has no end.')
  return body
}

type AnswerEvent =
  | Exclude<ChatEvent, AnswerFinished>
  | { readonly type: 'answer-finished'; readonly finished: AnswerFinished; readonly cachedTokens: number }

/** What there is to say to the client: a piece of the answer or its end, with the scores of tokens that led to it. */
interface Spoken {
  readonly event: Extract<AnswerEvent, { type: 'text-delta' | 'answer-finished' }>
  readonly tokens: readonly ScoredAnswerToken[]
}

async function nextSpoken(events: AsyncGenerator<AnswerEvent, void, undefined>): Promise<Spoken | undefined> {
  const tokens: ScoredAnswerToken[] = []
  for (;;) {
    const { done, value } = await events.next()
    if (done) return undefined
    if (value.type === 'token-scored') tokens.push(value.token)
    if (value.type === 'text-delta' || value.type === 'answer-finished') return { event: value, tokens }
  }
}

async function* encodeAnswer(
  first: Promise<Spoken | undefined>,
  events: AsyncGenerator<AnswerEvent, void, undefined>,
  encoder: AnswerEncoder,
  life: RequestLife,
  record: RequestRecord,
): AsyncGenerator<string, void, undefined> {
  try {
    yield encoder.begin()
    for (let spoken = await first; spoken !== undefined; spoken = await nextSpoken(events)) {
      const { event, tokens } = spoken
      if (event.type === 'text-delta') yield encoder.delta(event.text, tokens)
      else {
        // Tokens whose text a stop string swallowed were chosen all the same.
        if (tokens.length > 0) yield encoder.delta('', tokens)
        yield encoder.end(event)
      }
    }
  } catch (thrown) {
    const error = endOf(life, thrown)
    record.fail(error)
    yield encoder.fail(refusalOf(error).body)
  } finally {
    record.end()
  }
}
