/** Server-sent events: texts as they come, signs of life between them, and a reader who may be slow or gone. */

/** Enough for any answer of usual length, so that a slow reader does not keep the model from the next one. */
const MAX_UNREAD_BYTES = 256 * 1024
/** Clients and proxies give up on silence after a minute or so. */
export const PING_MS = 10_000
/** A reader who takes nothing for so long while the model waits has stalled. */
const STALL_MS = 30_000

export interface EventStreamHandlers {
  /** The reader has left or does not read. The source is expected to end soon. */
  readonly onLost: (why: 'client-left' | 'reader-stalled') => void
}

/** Reads `events` to its end, whatever the reader does. The connection breaks off when it throws or the reader is lost. */
export function streamEvents(
  events: AsyncIterable<string>,
  { onLost }: EventStreamHandlers,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let drained: (() => void) | undefined
  let isLost = false
  const lose = (why: 'client-left' | 'reader-stalled'): void => {
    isLost = true
    drained?.()
    onLost(why)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): void => {
          if (!isLost) controller.enqueue(encoder.encode(text))
        }
        const waitForReader = async (): Promise<void> => {
          if (isLost || (controller.desiredSize ?? 0) > 0) return
          const timer = setTimeout(() => lose('reader-stalled'), STALL_MS)
          await new Promise<void>((resolve) => {
            drained = resolve
          })
          drained = undefined
          clearTimeout(timer)
        }
        const pump = async (): Promise<void> => {
          let isQuiet = true
          const ping = setInterval(() => {
            if (isQuiet && (controller.desiredSize ?? 0) > 0) send(': still there\n\n')
            isQuiet = true
          }, PING_MS)
          try {
            for await (const text of events) {
              isQuiet = false
              send(text)
              await waitForReader()
            }
            if (isLost) controller.error(new Error('The reader was lost.'))
            else controller.close()
          } catch (error) {
            controller.error(error)
          } finally {
            clearInterval(ping)
          }
        }
        void pump()
      },
      pull: () => drained?.(),
      cancel: () => lose('client-left'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  )
}

export function encodeEvent(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}
