/** From the request of an answer to its response: read, wait, answer, as one body or as a stream. */
import type { AnswerFinished, ChatEvent, ChatTurn, ScoredAnswerToken } from '../engine/types.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { AnswerQueue, type Ticket } from './answer-queue.ts'
import type { AnswerRequest } from './answer-request.ts'
import type { CheckedOptions } from './app-options.ts'
import { encodeEmbeddings, parseEmbeddingsRequest } from './embeddings.ts'
import { refusalOf } from './error-body.ts'
import { PING_MS, streamEvents } from './event-stream.ts'
import type { Gauge } from './metrics.ts'
import { loadTurns } from './pictures.ts'
import { readJson } from './read-json.ts'
import { RequestLife } from './request-life.ts'
import type { RequestRecord } from './request-record.ts'
import { locateSchemaError } from './response-format.ts'
import { type QuestionTurn, ServedModel } from './served-model.ts'
import type { AnswerEncoder, EncoderFactory } from './wire-answer.ts'

/** A route that answers: how its body is read, and how its answers are written. */
export interface AnswerRoute {
  readonly parse: (body: unknown) => AnswerRequest
  readonly createEncoder: EncoderFactory
}

interface Running {
  readonly life: RequestLife
  readonly ticket: Ticket
  readonly record: RequestRecord
}

export class Answering {
  readonly served: readonly ServedModel[]
  readonly #options: CheckedOptions
  readonly #queue: AnswerQueue
  readonly #lives = new Set<RequestLife>()
  #isStopping = false
  #onIdle: (() => void) | undefined

  constructor(options: CheckedOptions) {
    this.#options = options
    this.#queue = new AnswerQueue(options.queueLength)
    this.served = Object.entries(options.models).map(
      ([id, model]) => new ServedModel(id, model, options.keptConversations),
    )
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get gauges(): readonly Gauge[] {
    const perModel = (read: (served: ServedModel) => number) => () =>
      this.served.map((served) => ({ model: served.id, value: read(served) }))
    return [
      {
        name: 'onsight_requests_running',
        help: 'Requests being answered.',
        read: () => [{ value: this.#queue.running }],
      },
      {
        name: 'onsight_requests_waiting',
        help: 'Requests being read or waiting for their turn.',
        read: () => [{ value: this.#queue.waiting }],
      },
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
    return this.#admit(request, record, async (running, body) => {
      const { life } = running
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
      const events = this.#answer(served, turns, asked, running)
      if (asked.isStream) return await this.#stream(events, encoder, running)
      return Response.json(await collect(events, encoder))
    })
  }

  embed(request: Request, record: RequestRecord): Promise<Response> {
    return this.#admit(request, record, async (running, body) => {
      const { life, ticket } = running
      const asked = parseEmbeddingsRequest(body)
      const served = this.find(asked.model)
      record.model = served.id
      await ticket.turn(life.signal)
      const embeddings = await served.model.embed(asked.texts, { signal: life.signal })
      const answer = encodeEmbeddings(served.id, asked, embeddings)
      record.embedded(embeddings.reduce((sum, { tokens }) => sum + tokens, 0))
      this.#close(running)
      return Response.json(answer)
    })
  }

  /** Takes a place in the queue, which `work` gives back unless it fails. */
  async #admit(
    request: Request,
    record: RequestRecord,
    work: (running: Running, body: unknown) => Promise<Response>,
  ): Promise<Response> {
    const ticket = this.#queue.take()
    const life = new RequestLife(request.signal, this.#options.requestTimeoutMs)
    this.#lives.add(life)
    const running = { life, ticket, record }
    try {
      return await work(running, await readJson(request, this.#options.maxBodyBytes, life.signal))
    } catch (error) {
      this.#close(running)
      throw endOf(life, error)
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    if (this.#lives.size > 0) {
      const timer = setTimeout(() => {
        for (const life of this.#lives) life.end('stopping')
      }, graceMs)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
      clearTimeout(timer)
    }
    for (const served of this.served) served.dispose()
  }

  /** Waits for its turn, then answers. Ends its ticket, whatever happens. */
  async *#answer(
    served: ServedModel,
    turns: readonly ChatTurn[],
    { generation, isPlain, format }: AnswerRequest,
    running: Running,
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    const { life, ticket, record } = running
    try {
      await ticket.turn(life.signal)
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
      this.#close(running)
    }
  }

  /**
   * The response waits for the first word, so that what fails before it has a status of its own; but not for longer
   * than silence is tolerated.
   */
  async #stream(
    events: AsyncGenerator<AnswerEvent, void, undefined>,
    encoder: AnswerEncoder,
    { life, record }: Running,
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

  #close({ life, ticket }: Running): void {
    ticket.leave()
    life.close()
    this.#lives.delete(life)
    if (this.#lives.size === 0) this.#onIdle?.()
  }
}

/** An abort is told by its reason. A body that breaks off is a client that left, known before its signal says so. */
function endOf(life: RequestLife, error: unknown): unknown {
  if (!isAbortError(error)) return error
  life.end('client-left')
  return life.error
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
