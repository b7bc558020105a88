/** The body of a response that is made as it is read: signs of life in it, and a reader who may be slow or gone. */

/** Clients and proxies give up on silence after a minute or so. */
export const PING_MS = 10_000
/** A reader who takes nothing for so long while the source waits has stalled. */
const STALL_MS = 30_000

export interface ByteStreamOptions {
  /** So much may lie unread before the source has to wait. */
  readonly maxUnreadBytes: number
  /** Sent when nothing else was for ten seconds. Default: nothing. */
  readonly ping?: Uint8Array
  /** The reader has left or does not read. The source is expected to end soon. */
  readonly onLost: (why: 'client-left' | 'reader-stalled') => void
}

/** Reads `chunks` to its end, whatever the reader does. The connection breaks off when it throws or the reader is lost. */
export function streamBytes(
  chunks: AsyncIterable<Uint8Array>,
  { maxUnreadBytes, ping, onLost }: ByteStreamOptions,
): ReadableStream<Uint8Array> {
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
        const send = (bytes: Uint8Array): void => {
          if (!isLost) controller.enqueue(bytes)
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
          const timer =
            ping &&
            setInterval(() => {
              if (isQuiet && (controller.desiredSize ?? 0) > 0) send(ping)
              isQuiet = true
            }, PING_MS)
          try {
            for await (const bytes of chunks) {
              isQuiet = false
              send(bytes)
              await waitForReader()
            }
            if (isLost) controller.error(new Error('The reader was lost.'))
            else controller.close()
          } catch (error) {
            controller.error(error)
          } finally {
            clearInterval(timer)
          }
        }
        void pump()
      },
      pull: () => drained?.(),
      cancel: () => lose('client-left'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
  )
}
