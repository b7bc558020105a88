/**
 * The compute workers as one: messages go out in order, answers settle the promises that wait for them, and a failure
 * of any thread ends them all.
 */
import { EngineError } from '../../shared/errors.ts'
import type { WorkerHost, WorkerPort } from '../../shared/worker-port.ts'
import { CONTROL } from './control-words.ts'
import type { FromWorker, StartMessage, ToWorker } from './messages.ts'

type Answer = Uint8Array<ArrayBuffer> | boolean

interface Pending {
  resolve(value: Answer): void
  reject(error: unknown): void
}

type Request = Extract<ToWorker, { type: 'run' | 'read' }>

export class WorkerPool {
  readonly #memory: WebAssembly.Memory | undefined
  readonly #workers: WorkerPort[] = []
  readonly #pending = new Map<number, Pending>()
  /** Messages not yet posted: without shared memory a list can only be cancelled while it is still here. */
  #outbox: ToWorker[] = []
  #runningId: number | undefined
  #nextId = 1
  #broken: EngineError | undefined

  /** `memory`: shared by all threads; undefined when the one worker has its own. */
  constructor(memory: WebAssembly.Memory | undefined) {
    this.#memory = memory
  }

  /** Why nothing works any more, if so. */
  get broken(): EngineError | undefined {
    return this.#broken
  }

  /** True while something posted is unanswered or unposted. */
  get busy(): boolean {
    return this.#pending.size > 0 || this.#outbox.length > 0
  }

  /** Starts a worker for each message; resolves when all are ready. */
  async start(host: WorkerHost, messages: readonly StartMessage[]): Promise<void> {
    let ready = 0
    await new Promise<void>((resolve, reject) => {
      for (const message of messages) {
        const worker = host.spawnComputeWorker(`onsight-compute-${message.thread}`)
        this.#workers.push(worker)
        worker.setActive(true)
        worker.onError((error) => {
          this.#fail(message.thread, error instanceof Error ? error.message : String(error))
          reject(this.#broken)
        })
        worker.onMessage((data) => {
          const answer = data as FromWorker
          if (answer.type === 'ready' && ++ready === messages.length) resolve()
          this.#receive(answer)
          if (answer.type === 'failed') reject(this.#broken)
        })
        worker.postMessage(message)
      }
    })
    this.#updateActivity()
  }

  /** A message that has no answer. */
  post(message: Exclude<ToWorker, Request>): void {
    this.#outbox.push(message)
    this.#pump()
  }

  /** Runs a list; resolves to whether it was cancelled. */
  run(commands: Int32Array<ArrayBuffer>): Promise<boolean> {
    return this.#request((id) => ({ type: 'run', id, commands })) as Promise<boolean>
  }

  read(address: number, byteLength: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#request((id) => ({ type: 'read', id, address, byteLength })) as Promise<
      Uint8Array<ArrayBuffer>
    >
  }

  /** Stops what was sent so far before its next command. */
  cancel(): void {
    if (this.#memory) {
      if (this.#pending.size > 0) this.#setCancel(1)
      return
    }
    const dropped = this.#outbox.filter((message) => message.type === 'run')
    this.#outbox = this.#outbox.filter((message) => message.type !== 'run')
    for (const { id } of dropped) this.#settle(id, true)
  }

  /** Ends the workers; what waits is rejected with `error`. */
  async terminate(error: EngineError): Promise<void> {
    this.#break(error)
    await Promise.all(this.#workers.splice(0).map((worker) => worker.terminate()))
  }

  #request(message: (id: number) => Request): Promise<Answer> {
    const id = this.#nextId++
    const promise = new Promise<Answer>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
    })
    promise.catch(() => {}) // parts of a long list are awaited through the last one
    this.#outbox.push(message(id))
    this.#updateActivity()
    this.#pump()
    return promise
  }

  /** Posts what may go: everything with shared memory, else one list at a time. */
  #pump(): void {
    const leader = this.#workers[0]
    while (leader && this.#runningId === undefined) {
      const message = this.#outbox.shift()
      if (!message) return
      if (message.type === 'run' && !this.#memory) this.#runningId = message.id
      leader.postMessage(message, transferable(message))
    }
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        return
      case 'done':
        this.#settle(message.id, message.cancelled)
        return
      case 'bytes':
        this.#settle(message.id, message.bytes)
        return
      case 'failed':
        this.#fail(message.thread, message.message)
    }
  }

  #settle(id: number, value: Answer): void {
    this.#pending.get(id)?.resolve(value)
    this.#pending.delete(id)
    if (id === this.#runningId) this.#runningId = undefined
    if (this.#pending.size === 0) this.#setCancel(0)
    this.#updateActivity()
    this.#pump()
  }

  #setCancel(value: 0 | 1): void {
    if (this.#memory) Atomics.store(new Int32Array(this.#memory.buffer), CONTROL.cancel / 4, value)
  }

  #fail(thread: number, reason: string): void {
    this.#break(
      new EngineError('backend/worker-failed', {
        message: `Compute thread ${thread} stopped: ${reason}`,
        hint: 'Load the model again; if it happens again, report it with the command and the model you used.',
      }),
    )
  }

  #break(error: EngineError): void {
    this.#broken ??= error
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
    this.#outbox = []
    this.#updateActivity()
  }

  /** The process stays alive only while an answer is awaited. */
  #updateActivity(): void {
    for (const worker of this.#workers) worker.setActive(this.#pending.size > 0)
  }
}

function transferable(message: ToWorker): ArrayBuffer[] {
  if (message.type === 'run') return [message.commands.buffer]
  return message.type === 'write' ? [message.bytes.buffer] : []
}
