/** The local server as a function from request to response: routes, checks in order, and the end of everything. */
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { EngineError } from '../shared/errors.ts'
import { checkContentType, checkHost, checkKey, checkOrigin } from './access.ts'
import { Admission } from './admission.ts'
import { Answering, type AnswerRoute } from './answering.ts'
import { checkAppOptions, type ServerAppOptions } from './app-options.ts'
import { AudioRoutes } from './audio-routes.ts'
import { createChatEncoder } from './chat-encoder.ts'
import { parseChatRequest } from './chat-request.ts'
import { createCompletionEncoder } from './completion-encoder.ts'
import { parseCompletionRequest } from './completion-request.ts'
import { refusalOf } from './error-body.ts'
import { Metrics } from './metrics.ts'
import { RequestRecord } from './request-record.ts'
import { createResponsesEncoder } from './responses-encoder.ts'
import { parseResponsesRequest } from './responses-request.ts'

export interface ServerApp {
  /** Never rejects; what fails becomes a response. */
  fetch(request: Request): Promise<Response>
  /** Refuses new requests; those that still run after `graceMs` end with an error. Models stay open. */
  stop(graceMs: number): Promise<void>
}

type Environment = { Variables: { record: RequestRecord } }

const ANSWER_ROUTES: Readonly<Record<string, AnswerRoute>> = {
  '/v1/chat/completions': { parse: parseChatRequest, createEncoder: createChatEncoder },
  '/v1/completions': { parse: parseCompletionRequest, createEncoder: createCompletionEncoder },
  '/v1/responses': { parse: parseResponsesRequest, createEncoder: createResponsesEncoder },
}

const EMBEDDINGS = '/v1/embeddings'

/** Reachable without a key, so that supervisors can ask. */
const HEALTH = ['/health', '/v1/health']

/**
 * An OpenAI-compatible server over models that are loaded. Runs wherever `Request` and `Response` do.
 *
 * @example
 * const app = createServerApp({ models: { tiny: await loadModel(bundledModelPath()) } })
 * const response = await app.fetch(new Request('http://localhost/v1/models', { headers: { host: 'localhost' } }))
 */
export function createServerApp(options: ServerAppOptions): ServerApp {
  const checked = checkAppOptions(options)
  const admission = new Admission(checked)
  const answering = new Answering(checked, admission)
  const audio = checked.audio && new AudioRoutes(checked.audio, checked.maxBodyBytes, admission)
  const metrics = new Metrics([...admission.gauges, ...answering.gauges])
  const access = { hosts: checked.hosts, corsOrigins: checked.corsOrigins, apiKey: checked.apiKey }
  const created = Math.floor(Date.now() / 1000)
  const app = new Hono<Environment>()

  app.use(async (c, next) => {
    const record = new RequestRecord(metrics, checked.log)
    c.set('record', record)
    await next()
    record.endUnlessDeferred(c.res.status)
  })
  app.use(async (c, next) => {
    checkHost(c.req.raw.headers, access)
    checkOrigin(c.req.raw.headers, access)
    await next()
  })
  app.use(cors({ origin: (origin) => (checked.corsOrigins.includes(origin) ? origin : null), maxAge: 600 }))
  app.use(async (c, next) => {
    if (!HEALTH.includes(c.req.path)) await checkKey(c.req.raw.headers, access)
    if (admission.isStopping) throw stoppingError()
    await next()
  })

  for (const path of HEALTH) {
    app.get(path, (c) => {
      c.var.record.route = path
      return c.json({ status: 'ok' })
    })
  }
  app.get('/metrics', (c) => {
    c.var.record.route = '/metrics'
    return c.text(metrics.toText(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
  app.get('/v1/models', (c) => {
    c.var.record.route = '/v1/models'
    return c.json({ object: 'list', data: answering.served.map((served) => describeModel(served, created)) })
  })
  // Names may hold slashes.
  app.get('/v1/models/:id{.+}', (c) => {
    c.var.record.route = '/v1/models/{id}'
    return c.json(describeModel(answering.find(c.req.param('id')), created))
  })
  for (const [path, route] of Object.entries(ANSWER_ROUTES)) {
    app.post(path, (c) => {
      c.var.record.route = path
      checkContentType(c.req.raw.headers)
      return answering.respond(c.req.raw, route, c.var.record)
    })
  }
  app.post(EMBEDDINGS, (c) => {
    c.var.record.route = EMBEDDINGS
    checkContentType(c.req.raw.headers)
    return answering.embed(c.req.raw, c.var.record)
  })
  if (audio) {
    app.post('/v1/audio/transcriptions', (c) => {
      c.var.record.route = '/v1/audio/transcriptions'
      return audio.transcribe(c.req.raw, c.var.record)
    })
    app.post('/v1/audio/speech', (c) => {
      c.var.record.route = '/v1/audio/speech'
      checkContentType(c.req.raw.headers)
      return audio.speak(c.req.raw, c.var.record)
    })
  }
  app.notFound((c) => {
    throw new EngineError('server/no-route', {
      message: `There is no ${c.req.method} ${c.req.path.slice(0, 100)} here.`,
      hint: `Routes are POST ${[...Object.keys(ANSWER_ROUTES), EMBEDDINGS].join(', ')} and GET /v1/models, /health, /metrics.`,
    })
  })
  app.onError((error, c) => {
    c.var.record?.fail(error)
    const { status, body, headers } = refusalOf(error)
    return Response.json(body, { status, headers })
  })

  return {
    fetch: async (request) => app.fetch(request),
    stop: async (graceMs) => {
      await admission.stop(graceMs)
      answering.dispose()
    },
  }
}

function stoppingError(): EngineError {
  return new EngineError('server/stopping', { message: 'The server is stopping.' })
}

function describeModel({ id, model }: Answering['served'][number], created: number): object {
  const { takesImages, contextLength } = model.info
  return {
    id,
    object: 'model',
    created,
    owned_by: 'onsight',
    architecture: {
      input_modalities: takesImages ? ['text', 'image'] : ['text'],
      output_modalities: ['text'],
    },
    context_length: contextLength,
  }
}
