/** Long work on the calling thread, cut into steps, so that a page stays responsive and an abort is noticed. */
import { throwIfAborted } from './abort.ts'

/** Yields after each step of a millisecond or so; returns the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** How long steps run before others get a turn: below what a person notices. */
const SLICE_MS = 20

/** Runs all steps, with a turn for others every 20 ms. Rejects with an `AbortError` when the signal is aborted meanwhile. */
export async function runSteps<Result>(steps: Steps<Result>, signal?: AbortSignal): Promise<Result> {
  let end = performance.now() + SLICE_MS
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < end) continue
    await nextTurn()
    throwIfAborted(signal)
    end = performance.now() + SLICE_MS
  }
}

/** Runs all steps at once. */
export function completeSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Resolves when everything else that waits has had its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    // Not a timer: those of hidden pages fire once a second.
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
