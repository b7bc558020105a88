/** Server-sent events: texts as they come, and comments as signs of life between them. */
import { type ByteStreamOptions, streamBytes } from './byte-stream.ts'

/** Enough for any answer of usual length, so that a slow reader does not keep the model from the next one. */
const MAX_UNREAD_BYTES = 256 * 1024

const encoder = new TextEncoder()

/** Reads `events` to its end, whatever the reader does. The connection breaks off when it throws or the reader is lost. */
export function streamEvents(
  events: AsyncIterable<string>,
  { onLost }: Pick<ByteStreamOptions, 'onLost'>,
): ReadableStream<Uint8Array> {
  return streamBytes(encodeTexts(events), {
    maxUnreadBytes: MAX_UNREAD_BYTES,
    ping: encoder.encode(': still there\n\n'),
    onLost,
  })
}

async function* encodeTexts(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const text of texts) yield encoder.encode(text)
}

export function encodeEvent(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}
