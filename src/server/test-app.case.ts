/** An app over a fake model, and requests to it as a client on this machine sends them. */
import { createFakeModel, type FakeModel, type FakeModelOptions } from '../testing/fake-model.ts'
import { createServerApp, type ServerApp } from './app.ts'
import type { RequestLogEntry, ServerAppOptions } from './app-options.ts'

export interface TestApp {
  readonly app: ServerApp
  readonly model: FakeModel
  readonly log: RequestLogEntry[]
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
}

export function createTestApp(options: Partial<ServerAppOptions> = {}, fake: FakeModelOptions = {}): TestApp {
  const model = createFakeModel(fake)
  const log: RequestLogEntry[] = []
  const app = createServerApp({ models: { fake: model }, log: (entry) => log.push(entry), ...options })
  const send = (path: string, init: RequestInit & { headers: Record<string, string> }) =>
    app.fetch(
      new Request(`http://localhost:8321${path}`, {
        ...init,
        headers: { host: 'localhost:8321', ...init.headers },
      }),
    )
  return {
    app,
    model,
    log,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body, headers = {}, signal) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal && { signal }),
      }),
  }
}

/** The fields of an OpenAI error, with the status. */
export async function errorOf(response: Response): Promise<Record<string, unknown>> {
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  return { status: response.status, ...error }
}

/** The data of each event of a stream, comments left out. */
export async function eventsOf(response: Response): Promise<unknown[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => (line === 'data: [DONE]' ? '[DONE]' : (JSON.parse(line.slice(6)) as unknown)))
}

/** Resolves when told to. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Lets everything that can go on do so. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setTimeout(resolve, 2))
}
