/** Everything a command takes from its surroundings, so that tests can run commands without a process. */
import type { LoadModelOptions, Model, PrecisionName } from '../engine/types.ts'
import type { Interrupts } from './interrupts.ts'

export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean }
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

/** Numbers by name, with units in the names, and what they were measured on. */
export interface BenchReport {
  readonly numbers: Readonly<Record<string, number>>
  readonly environment: Readonly<Record<string, string | number>>
}

export interface BenchRequest {
  readonly precision?: PrecisionName
  readonly threads?: number
  /** Runs of each measurement. */
  readonly repeat?: number
  readonly signal?: AbortSignal
}

export type RunBench = (
  subject: string | { readonly shape: string },
  request: BenchRequest,
) => Promise<BenchReport>

/** The part of the library that commands use. */
export interface Engine {
  loadModel(reference: string, options?: LoadModelOptions): Promise<Model>
  bundledModelPath(): string
}

export interface CommandContext {
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly interrupts: Interrupts
  /** Loads the library on first use: help and usage errors need none of it. */
  readonly loadEngine: () => Promise<Engine>
  readonly loadBench: () => Promise<RunBench>
}
