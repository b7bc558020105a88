/** What the command's exit codes mean; the same table stands in docs/cli.md and below every --help. */
import { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  model: 4,
  memory: 5,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What was going on: a missing file is a missing model while loading, a missing picture later. */
export type Phase = 'loading' | 'running'

const BY_AREA: Readonly<Record<Phase, Readonly<Record<ErrorArea, ExitCode>>>> = {
  loading: {
    option: EXIT.usage,
    file: EXIT.model,
    format: EXIT.model,
    config: EXIT.model,
    model: EXIT.model,
    text: EXIT.model,
    image: EXIT.model,
    audio: EXIT.failed,
    backend: EXIT.failed,
    generation: EXIT.failed,
    hub: EXIT.model,
    server: EXIT.failed,
    speech: EXIT.failed,
    remote: EXIT.failed,
    snapshot: EXIT.failed,
  },
  running: {
    option: EXIT.usage,
    file: EXIT.failed,
    format: EXIT.failed,
    config: EXIT.failed,
    model: EXIT.failed,
    text: EXIT.failed,
    image: EXIT.failed,
    audio: EXIT.failed,
    backend: EXIT.failed,
    generation: EXIT.failed,
    hub: EXIT.failed,
    server: EXIT.failed,
    speech: EXIT.failed,
    remote: EXIT.failed,
    snapshot: EXIT.failed,
  },
}

const BY_CODE: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  'backend/memory-limit': EXIT.memory,
  'backend/out-of-memory': EXIT.memory,
  'file/disk-full': EXIT.memory,
  'file/write-failed': EXIT.failed,
  'hub/no-space': EXIT.memory,
  'hub/not-stored': EXIT.model,
}

export function exitCodeOf(error: unknown, phase: Phase): ExitCode {
  if (EngineError.isInstance(error)) {
    return BY_CODE[error.code] ?? BY_AREA[phase][error.code.split('/', 1)[0] as ErrorArea] ?? EXIT.failed
  }
  // What V8 throws when a buffer or a WebAssembly memory cannot be had.
  return error instanceof RangeError && /allocat/i.test(error.message) ? EXIT.memory : EXIT.failed
}

export const EXIT_CODES_HELP = `
Exit codes:
  0    done
  1    failed, for example a picture that cannot be read
  2    wrong usage
  4    the model is missing or damaged
  5    not enough memory or disk space
  130  interrupted (Ctrl-C); 143 when terminated`
