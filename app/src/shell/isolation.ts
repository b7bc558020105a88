/** Whether this page may use several threads, and if not, why. Plain hosts get there by a reload through the service worker. */
import { signal } from '@preact/signals'

export type Isolation =
  | 'isolated'
  /** One thread is what the engine would take anyway. */
  | 'few-cores'
  /** Opened over http from another machine, or from a file. */
  | 'insecure'
  | 'no-service-worker'
  /** The person reloaded past the caches, which goes past the service worker too. */
  | 'forced-reload'
  /** Reloaded, and it did not help. */
  | 'refused'

export interface IsolationFacts {
  readonly isIsolated: boolean
  readonly isSecure: boolean
  readonly cores: number
  /** Whether the service worker answers this page. */
  readonly isControlled: boolean
  /** Whether there was one before this page. */
  readonly wasInstalled: boolean
  /** Whether this tab has been reloaded for it since it was isolated last. */
  readonly hasReloaded: boolean
}

/** From how many cores on the engine takes a second thread: half of the cores are its. */
const CORES_FOR_THREADS = 4

/** `reload` where that may bring threads; it is said once only, however often it is asked. */
export function judgeIsolation(facts: IsolationFacts): Isolation | 'reload' {
  if (facts.isIsolated) return 'isolated'
  if (!facts.isSecure) return 'insecure'
  if (facts.cores < CORES_FOR_THREADS) return 'few-cores'
  const isReachable = facts.isControlled || facts.wasInstalled
  if (!facts.hasReloaded) return isReachable ? 'reload' : 'no-service-worker'
  if (facts.isControlled) return 'refused'
  return facts.wasInstalled ? 'forced-reload' : 'no-service-worker'
}

export const isolation = signal<Isolation>('no-service-worker')
