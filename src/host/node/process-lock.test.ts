import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { acquireLock } from './process-lock.ts'

const folders = useTemporaryFolders()
const create = (content?: string): string => {
  const folder = folders.create(content === undefined ? {} : { lock: content })
  return join(folder, 'lock')
}
const owner = (pid: number, host = hostname(), started?: string): string =>
  JSON.stringify({ pid, host, started })

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

describe('acquireLock', () => {
  it('keeps others out until it is given back', async () => {
    const path = create()
    const release = await acquireLock(path, 'the model')
    await expect(acquireLock(path, 'the model')).rejects.toMatchObject({
      code: 'hub/locked',
      message: `the model is being worked on by process ${process.pid}.`,
      hint: `Wait until it has finished. If it no longer runs, delete ${path}.`,
    })
    await release()
    const second = await acquireLock(path, 'the model')
    // Giving back twice does not take it from the next.
    await release()
    expect(existsSync(path)).toBe(true)
    await second()
    expect(await readdir(join(path, '..'))).toEqual([])
  })

  it('is taken over from a process that is gone', async () => {
    const path = create(owner(await deadPid()))
    const release = await acquireLock(path, 'x')
    expect(JSON.parse(await readFile(path, 'utf8')).pid).toBe(process.pid)
    await release()
    expect(await readdir(join(path, '..'))).toEqual([])
  })

  it.runIf(process.platform === 'linux')(
    'is taken over when the number belongs to a later process',
    async () => {
      const release = await acquireLock(create(owner(process.pid, hostname(), '1')), 'x')
      await release()
    },
  )

  it.each([
    ['', 'empty'],
    ['{"pid":', 'cut'],
    ['{"pid":-1,"host":"x"}', 'no process'],
    ['null', 'nothing'],
  ])('is taken over when its file is damaged: %j', async (content) => {
    await (await acquireLock(create(content), 'x'))()
  })

  it('of another machine counts as held', async () => {
    const path = create(owner(1, 'another-machine'))
    await expect(acquireLock(path, 'the model')).rejects.toMatchObject({
      message: 'the model is being worked on by process 1 on another-machine.',
    })
  })

  it('is taken over by one of many', async () => {
    const path = create(owner(await deadPid()))
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireLock(path, 'x')))
    const releases = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(releases).toHaveLength(1)
    await releases[0]?.()
  })

  it('gets past the guard of a takeover that crashed', async () => {
    const path = create(owner(await deadPid()))
    await writeFile(`${path}.takeover`, '')
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(`${path}.takeover`, longAgo, longAgo)
    await (await acquireLock(path, 'x'))()
  })
})
