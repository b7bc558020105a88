import type { ReadonlySignal } from '@preact/signals'
import type { EngineModel } from '../engine/engine.ts'
import type { ModelState } from './current-model.ts'

/** Resolves with the model once it is ready; rejects when loading fails or `signal` is aborted. */
export function whenReady(
  state: ReadonlySignal<ModelState>,
  signal: AbortSignal | undefined,
): Promise<EngineModel> {
  return new Promise((resolve, reject) => {
    let unsubscribe = (): void => {}
    const settle = (act: () => void): void => {
      // The first call comes before there is anything to end.
      queueMicrotask(() => unsubscribe())
      signal?.removeEventListener('abort', onAbort)
      act()
    }
    const onAbort = (): void =>
      settle(() => reject(new DOMException('The operation was aborted.', 'AbortError')))
    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    unsubscribe = state.subscribe((now) => {
      if (now.state === 'ready') settle(() => resolve(now.model))
      else if (now.state === 'failed') settle(() => reject(now.error))
    })
  })
}
