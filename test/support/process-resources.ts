/** What this process holds open, as Linux tells it; elsewhere nothing is known and lists are empty. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** Files that are open, by path, sorted. Pipes, sockets and the like belong to the test runner. */
export function openHandles(): string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd')
    .flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)]
      } catch {
        return [] // the descriptor with which the folder was read
      }
    })
    .filter((target) => target.startsWith('/') && !target.startsWith('/proc') && !target.startsWith('/dev'))
    .sort()
}

/** Threads of the process, workers among them; 0 where the system does not tell. */
export function threadCount(): number {
  return existsSync('/proc/self/task') ? readdirSync('/proc/self/task').length : 0
}
