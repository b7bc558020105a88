/**
 * A file that says which process works on something. Node has no locks of the system's, so the file is made to be
 * taken over when its process is gone: after a crash nobody has to delete it.
 */
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { EngineError } from '../../shared/errors.ts'

interface LockOwner {
  readonly pid: number
  readonly host: string
  /** When the process started, where the system tells: numbers of processes are used again. */
  readonly started: string | undefined
}

/** Taking over is a matter of milliseconds; a guard older than this is left from a crash. */
const GUARD_LIFE_MS = 10_000
/** Rounds of taking over from owners that come and go. */
const MAX_ROUNDS = 20

/**
 * @param what For the message: what is being worked on.
 * @returns A function that gives the lock back; safe to call twice.
 * @throws EngineError `hub/locked` when a living process has it.
 */
export async function acquireLock(path: string, what: string): Promise<() => Promise<void>> {
  const own: LockOwner = { pid: process.pid, host: hostname(), started: await startOf(process.pid) }
  const token = `${path}.${randomUUID()}`
  await writeFile(token, JSON.stringify(own))
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (await tryLink(token, path)) return createRelease(path)
      const owner = await readOwner(path)
      if (owner === 'gone') continue
      if (owner !== 'unreadable' && (await isAlive(owner))) throw lockedError(path, what, owner)
      await takeOver(path)
    }
    throw lockedError(path, what, undefined)
  } finally {
    await rm(token, { force: true })
  }
}

function createRelease(path: string): () => Promise<void> {
  let isHeld = true
  return async () => {
    if (isHeld) await rm(path, { force: true })
    isHeld = false
  }
}

/** A link appears with its content, unlike a file that is opened and then written. */
async function tryLink(token: string, path: string): Promise<boolean> {
  try {
    await link(token, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    // File systems without links, FAT for example.
    return code === 'ENOENT' ? Promise.reject(error) : tryCreate(token, path)
  }
}

async function tryCreate(token: string, path: string): Promise<boolean> {
  try {
    await writeFile(path, await readFile(token), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes a dead owner's file, one process at a time, so that nobody removes the file of the next owner. */
async function takeOver(path: string): Promise<void> {
  const guard = `${path}.takeover`
  try {
    await writeFile(guard, '', { flag: 'wx' })
  } catch {
    const age = await stat(guard).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > GUARD_LIFE_MS) await rm(guard, { force: true })
    await new Promise((resolve) => setTimeout(resolve, 20))
    return
  }
  try {
    const owner = await readOwner(path)
    if (owner === 'gone' || (owner !== 'unreadable' && (await isAlive(owner)))) return
    const dead = `${path}.${randomUUID()}`
    await rename(path, dead)
    await rm(dead, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

async function readOwner(path: string): Promise<LockOwner | 'gone' | 'unreadable'> {
  try {
    const { pid, host, started } = JSON.parse(await readFile(path, 'utf8')) as Record<
      keyof LockOwner,
      unknown
    >
    const isWhole = Number.isSafeInteger(pid) && (pid as number) > 0 && typeof host === 'string'
    if (!isWhole) return 'unreadable'
    return { pid: pid as number, host, started: typeof started === 'string' ? started : undefined }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'unreadable'
  }
}

/** Processes of other machines, which may share the folder, count as living: nobody here can tell. */
async function isAlive({ pid, host, started }: LockOwner): Promise<boolean> {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const startedNow = await startOf(pid)
  return started === undefined || startedNow === undefined || started === startedNow
}

/** Linux: field 22 of /proc/PID/stat, ticks since the machine started. The name before it may hold anything but ")". */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
}

function lockedError(path: string, what: string, owner: LockOwner | undefined): EngineError {
  const who =
    owner === undefined
      ? 'another process'
      : `process ${owner.pid}${owner.host === hostname() ? '' : ` on ${owner.host}`}`
  return new EngineError('hub/locked', {
    message: `${what} is being worked on by ${who}.`,
    hint: `Wait until it has finished. If it no longer runs, delete ${path}.`,
  })
}
