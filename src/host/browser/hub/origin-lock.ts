/** One tab or worker of a site at a time. The browser itself gives a lock back when its owner is gone. */
import { EngineError } from '../../../shared/errors.ts'

/**
 * @param what For the message: what is being worked on.
 * @returns A function that gives the lock back; safe to call twice.
 * @throws EngineError `hub/locked` when another tab or worker has it.
 */
export function acquireOriginLock(name: string, what: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    let letGo = (): void => {}
    const held = new Promise<void>((end) => {
      letGo = end
    })
    const whole = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        reject(lockedError(what))
        return undefined
      }
      resolve(async () => {
        letGo()
        await whole
      })
      return held
    })
    whole.catch(reject)
  })
}

function lockedError(what: string): EngineError {
  return new EngineError('hub/locked', {
    message: `${what} is being worked on by another tab or worker of this site.`,
    hint: 'Wait until it has finished, or close the other tab.',
  })
}
