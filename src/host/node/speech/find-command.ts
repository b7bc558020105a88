/** Programs on the path. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Surroundings of programs, so that tests can make them. */
export interface ProgramHost {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
}

/** Absolute path of the first program of these names that is on the path. */
export function findCommand(names: readonly string[], { env, platform }: ProgramHost): string | undefined {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (isProgram(path, platform)) return path
    }
  }
  return undefined
}

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    accessSync(path, platform === 'win32' ? constants.F_OK : constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
