/** What the browser says of the room that it gives to this site. Advice only: a failing write is the one proof. */

export interface StorageSpace {
  /** Of everything that this site stores; undefined where the browser does not tell. */
  readonly usedBytes: number | undefined
  /**
   * Most that the browser means to give. Some report a fixed number whatever the disk has, so more may fit, or less.
   */
  readonly quotaBytes: number | undefined
  /** Whether the browser keeps the site's data until a person removes it. */
  readonly isPersistent: boolean
}

export async function estimateStorage(): Promise<StorageSpace> {
  const storage = globalThis.navigator?.storage as Partial<StorageManager> | undefined
  const { usage, quota } = (await storage?.estimate?.().catch(() => undefined)) ?? {}
  const isPersistent = (await storage?.persisted?.().catch(() => false)) ?? false
  return { usedBytes: usage, quotaBytes: quota, isPersistent }
}

/**
 * Asks the browser to keep this site's data when space runs low. Chromium and Safari decide silently, Firefox asks the
 * person; the best moment is after the first model was stored. Pages only: workers cannot ask.
 *
 * @returns `granted`, `refused`, or `unsupported` where there is nothing to ask, as in workers.
 */
export async function requestPersistence(): Promise<'granted' | 'refused' | 'unsupported'> {
  const storage = globalThis.navigator?.storage as Partial<StorageManager> | undefined
  if (storage?.persist === undefined) return 'unsupported'
  return (await storage.persist().catch(() => false)) ? 'granted' : 'refused'
}

export async function describeSpace(): Promise<string> {
  const { usedBytes, quotaBytes } = await estimateStorage()
  if (usedBytes === undefined || quotaBytes === undefined) return 'it does not say how much'
  return `${usedBytes} of ${quotaBytes} bytes are used, by its own estimate`
}
