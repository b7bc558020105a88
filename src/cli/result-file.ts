/** Results of an evaluation in a file that grows line by line. */
import { appendFile, readFile } from 'node:fs/promises'
import type { ResultStore } from '../eval/result-log.ts'
import { EngineError } from '../shared/errors.ts'

export async function openResultFile(path: string): Promise<ResultStore> {
  let text = ''
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw resultError(path, cause)
  }
  // A killed run may have left half a line.
  let needsBreak = text !== '' && !text.endsWith('\n')
  return {
    name: path,
    text,
    async append(line) {
      const broken = needsBreak ? '\n' : ''
      needsBreak = false
      await appendFile(path, `${broken}${line}\n`).catch((cause: unknown) => {
        throw resultError(path, cause)
      })
    },
  }
}

function resultError(path: string, cause: unknown): EngineError {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? String(cause)
  return new EngineError('option/resume', {
    message: `${path}: the file of results could not be used (${code}).`,
    hint: 'Name a file in a folder that can be written to.',
    cause,
  })
}
