/** One request computes in each lane at a time; the others wait in order, and not too many of them in all. */
import { createAbortError, throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'

/**
 * Sound has a lane of its own: clients have the first sentence spoken while the rest of an answer still comes, and
 * would wait for each other without it.
 */
export type Lane = 'answers' | 'sound'

/** A place in the queue. */
export interface Ticket {
  /** Resolves when it is this one's turn. Rejects with an `AbortError`. */
  turn(signal: AbortSignal): Promise<void>
  /** Gives the place to the next. Safe to call twice. */
  leave(): void
}

interface LaneState {
  tickets: number
  isTaken: boolean
  readonly waiting: (() => void)[]
}

export class RequestQueue {
  readonly #limit: number
  readonly #lanes: Readonly<Record<Lane, LaneState>> = {
    answers: { tickets: 0, isTaken: false, waiting: [] },
    sound: { tickets: 0, isTaken: false, waiting: [] },
  }

  /** @param limit How many may wait, of both lanes together. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get running(): number {
    return this.#sum(({ isTaken }) => (isTaken ? 1 : 0))
  }

  /** Requests that are being read or wait for their turn. */
  get waiting(): number {
    return this.#sum(({ tickets }) => tickets) - this.running
  }

  /** Taken before a body is read, so that bodies cannot fill the memory. Throws `server/queue-full`. */
  take(lane: Lane): Ticket {
    const state = this.#lanes[lane]
    // The first of each lane does not wait.
    const behindOthers = this.#sum(({ tickets }) => Math.max(0, tickets - 1))
    if (state.tickets > 0 && behindOthers >= this.#limit) {
      throw new EngineError('server/queue-full', {
        message: `${this.waiting} requests wait already, and ${this.#limit} may.`,
        hint: 'Try again in a moment.',
      })
    }
    return createTicket(state)
  }

  #sum(read: (lane: LaneState) => number): number {
    return read(this.#lanes.answers) + read(this.#lanes.sound)
  }
}

function createTicket(lane: LaneState): Ticket {
  lane.tickets++
  let state: 'held' | 'running' | 'left' = 'held'
  return {
    turn: async (signal) => {
      throwIfAborted(signal)
      if (lane.isTaken) await wait(lane, signal)
      lane.isTaken = true
      state = 'running'
    },
    leave: () => {
      if (state === 'left') return
      const wasRunning = state === 'running'
      state = 'left'
      lane.tickets--
      if (!wasRunning) return
      const next = lane.waiting.shift()
      // The next one takes over without a gap in which another could step in.
      if (next) next()
      else lane.isTaken = false
    },
  }
}

function wait({ waiting }: LaneState, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = (): void => {
      waiting.splice(waiting.indexOf(enter), 1)
      reject(createAbortError())
    }
    waiting.push(enter)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
