import type { FromWorker, ToWorker } from './wire-messages.ts'

/** The way to one worker of the engine, from its start to its end. */
export interface EngineLink {
  post(message: ToWorker, transfer?: readonly Transferable[]): void
  onMessage(listener: (message: FromWorker) => void): void
  /** Called at most once, when the worker is gone by itself. @param reason For people. */
  onLost(listener: (reason: string) => void): void
  /** Ends the worker at once. Safe to call twice. */
  close(): void
}
