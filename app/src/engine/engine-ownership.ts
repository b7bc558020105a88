/**
 * Which tab of the app holds a large model: two would not fit into the memory of most devices. The browser gives the lock
 * back when a tab is closed or dies.
 */

export interface EngineOwnership {
  /** Whether this tab has it now. */
  acquire(): Promise<boolean>
  /** Resolves when this tab has it: at once, or when the other tab is closed. Rejects when aborted. */
  waitFor(signal: AbortSignal): Promise<void>
  /** Asks the other tab to let go, and takes it when that does not answer. */
  takeOver(): Promise<void>
  /** Safe to call without having it. */
  release(): void
  /** Called when another tab has taken it. */
  onTaken(listener: () => void): void
}

export interface OwnershipPorts {
  readonly locks: Pick<LockManager, 'request'>
  /** To the other tabs, not to this one. */
  readonly channel: Pick<BroadcastChannel, 'postMessage'> & {
    onmessage: ((event: MessageEvent) => unknown) | null
  }
  /** How long the other tab may take to let go. */
  readonly patienceMs: number
}

const LOCK = 'onsight.large-model'
const LET_GO = 'let-go'

export function createEngineOwnership({ locks, channel, patienceMs }: OwnershipPorts): EngineOwnership {
  let letGo: (() => void) | undefined
  let onTaken = (): void => {}

  /** Resolves with whether it was granted; it is then held until `letGo`. */
  const request = (options: LockOptions): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const held = locks.request(LOCK, options, (lock) => {
        if (lock === null) {
          resolve(false)
          return undefined
        }
        return new Promise<void>((end) => {
          letGo = end
          resolve(true)
        })
      })
      held.catch((error: unknown) => {
        // Also when it was stolen: the promise of a lock that is held is rejected then.
        const wasHeld = letGo !== undefined
        letGo = undefined
        if (wasHeld) onTaken()
        else reject(error)
      })
    })

  const release = (): void => {
    const end = letGo
    letGo = undefined
    end?.()
  }

  channel.onmessage = ({ data }) => {
    if (data !== LET_GO || letGo === undefined) return
    onTaken()
    release()
  }

  return {
    acquire: async () => letGo !== undefined || request({ ifAvailable: true }),
    async waitFor(signal) {
      if (letGo === undefined) await request({ signal })
    },
    async takeOver() {
      if (letGo !== undefined) return
      channel.postMessage(LET_GO)
      const isPatienceOver = AbortSignal.timeout(patienceMs)
      await request({ signal: isPatienceOver }).catch(() => request({ steal: true }))
    },
    release,
    onTaken(listener) {
      onTaken = listener
    },
  }
}

/** Browsers without locks have no way to tell; there every tab has it. */
export function createUnguardedOwnership(): EngineOwnership {
  return {
    acquire: async () => true,
    waitFor: async () => {},
    takeOver: async () => {},
    release: () => {},
    onTaken: () => {},
  }
}
