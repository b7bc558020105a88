/** The body of a request, up to a size: as JSON or as it is. */
import { createAbortError, throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'

/** Throws `server/body-too-large` and `server/not-json`; rejects with an `AbortError`. */
export async function readJson(request: Request, maxBytes: number, signal: AbortSignal): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes, signal)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch (cause) {
    throw new EngineError('server/not-json', {
      message: `The body is no valid JSON: ${(cause as Error).message.slice(0, 100)}.`,
      cause,
    })
  }
}

/** Throws `server/body-too-large`; rejects with an `AbortError`. */
export async function readBytes(
  request: Request,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const stated = Number(request.headers.get('content-length') ?? 0)
  if (stated > maxBytes) throw tooLarge(stated, maxBytes)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body?.getReader()
  const onAbort = (): void => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      throwIfAborted(signal)
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      length += value.length
      if (length > maxBytes) throw tooLarge(length, maxBytes)
      chunks.push(value)
    }
  } catch (error) {
    // A connection that breaks in the middle of the body is a client that left.
    if (EngineError.isInstance(error)) throw error
    throw createAbortError()
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  throwIfAborted(signal)
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function tooLarge(found: number, most: number): EngineError {
  return new EngineError('server/body-too-large', {
    message: `Expected a request of at most ${most} bytes, found ${found} or more.`,
    hint: 'Make pictures smaller (models see 2048 pixels a side or fewer) or recordings shorter. --max-body allows more.',
  })
}
