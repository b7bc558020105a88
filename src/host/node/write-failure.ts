/** What goes wrong when files are written, in words. */
import { EngineError } from '../../shared/errors.ts'

/** Runs `work`; what the system reports becomes an `EngineError` `hub/no-space` or `hub/write-failed`. */
export async function describeFailures<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (EngineError.isInstance(error)) throw error
    throw describeFailure(path, error)
  }
}

function describeFailure(path: string, cause: unknown): EngineError {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? String(cause)
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new EngineError('hub/no-space', {
        message: `${path}: the disk is full (${code}).`,
        hint: 'Free some space and run the same command again; what was fetched is kept. onsight rm gives it back.',
        cause,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EngineError('hub/write-failed', {
        message: `${path}: no permission to write here (${code}).`,
        hint: 'Give the current user write access, or keep models elsewhere with ONSIGHT_HOME.',
        cause,
      })
    default:
      return new EngineError('hub/write-failed', {
        message: `${path}: writing failed (${code}).`,
        hint: 'Check the disk; models can be kept elsewhere with ONSIGHT_HOME.',
        cause,
      })
  }
}
