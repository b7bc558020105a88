/** Small texts of the hub, read whole. */
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { HttpAnswer, HttpClient, RequestOptions } from './http-client.ts'
import { type RetryOptions, withRetries } from './retry.ts'

/** A listing of 1,000 files has 0.3 MB, the index of a 400B checkpoint 5 MB. */
const MAX_TEXT_BYTES = 2 ** 25
/** People wait for the first answer, so patience ends earlier than in the middle of a download. */
const MAX_FAILURES = 3

export interface JsonAnswer {
  readonly value: unknown
  readonly headers: Headers
}

/**
 * @throws EngineError `hub/not-json` when the answer is something else, a web page for example, and everything that
 *   `HttpClient.get` throws.
 */
export function loadJson(
  client: HttpClient,
  address: string,
  request: RequestOptions,
  retry: RetryOptions,
): Promise<JsonAnswer> {
  return withRetries({ ...retry, maxFailures: MAX_FAILURES }, async () => {
    const answer = await client.get(address, request)
    const text = await readText(answer, request)
    throwIfAborted(request.signal)
    try {
      return { value: JSON.parse(text) as unknown, headers: answer.response.headers }
    } catch (cause) {
      throw new EngineError('hub/not-json', {
        message: `${request.what}: expected JSON, found ${/^\s*</.test(text) ? 'a web page' : 'something else'}.`,
        hint: 'A login page of the network, or an endpoint (HF_ENDPOINT) that is no hub, may stand in between.',
        cause,
      })
    }
  })
}

async function readText(answer: HttpAnswer, { what }: RequestOptions): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let byteLength = 0
  for await (const chunk of answer.readChunks()) {
    byteLength += chunk.byteLength
    if (byteLength > MAX_TEXT_BYTES) {
      throw new EngineError('hub/not-json', {
        message: `${what}: the answer is longer than ${MAX_TEXT_BYTES} bytes; expected a list of files.`,
      })
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
