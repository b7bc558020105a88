import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, open, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBytes } from '../../shared/byte-source.ts'
import { openFile } from './file-source.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-source-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function file(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

const ramp = Uint8Array.from({ length: 1000 }, (_, i) => i & 255)

describe('openFile', () => {
  it('reads anywhere in a file', async () => {
    const path = await file('ramp.bin', ramp)
    const source = await openFile(path)
    expect({ name: source.name, byteLength: source.byteLength }).toEqual({ name: path, byteLength: 1000 })
    expect(await readBytes(source, 0, 1000)).toEqual(ramp)
    expect([...(await readBytes(source, 998, 2))]).toEqual([230, 231])
    expect((await readBytes(source, 1000, 0)).length).toBe(0)
    await source.close()
  })

  it('fills exactly a view of shared memory', async () => {
    const source = await openFile(await file('shared.bin', ramp))
    const memory = new SharedArrayBuffer(8)
    await source.readInto(new Uint8Array(memory, 2, 4), 100)
    expect([...new Uint8Array(memory)]).toEqual([0, 0, 100, 101, 102, 103, 0, 0])
    await source.close()
  })

  it('reads many pieces at once', async () => {
    const source = await openFile(await file('pieces.bin', ramp))
    const whole = new Uint8Array(1000)
    const pieces = Array.from({ length: 10 }, (_, i) => whole.subarray(i * 100, i * 100 + 100))
    await Promise.all(pieces.map((piece, i) => source.readInto(piece, i * 100)))
    expect(whole).toEqual(ramp)
    await source.close()
  })

  it('reads beyond 2 and 4 GiB', async () => {
    const path = join(folder, 'sparse.bin')
    const handle = await open(path, 'w')
    await handle.write(Uint8Array.of(1, 2, 3), 0, 3, 2 ** 31 - 1)
    await handle.write(Uint8Array.of(4, 5, 6), 0, 3, 5 * 2 ** 30)
    await handle.close()
    const source = await openFile(path)
    expect(source.byteLength).toBe(5 * 2 ** 30 + 3)
    expect([...(await readBytes(source, 2 ** 31 - 2, 5))]).toEqual([0, 1, 2, 3, 0])
    expect([...(await readBytes(source, 5 * 2 ** 30 - 1, 4))]).toEqual([0, 4, 5, 6])
    await source.close()
    await rm(path)
  })

  it('refuses ranges outside the file', async () => {
    const path = await file('short.bin', ramp)
    const source = await openFile(path)
    await expect(readBytes(source, 999, 2)).rejects.toMatchObject({
      code: 'file/truncated',
      message: `${path}: expected 2 bytes at byte 999, but the file has 1000 bytes.`,
    })
    await source.close()
  })

  it('says when the file became shorter', async () => {
    const path = await file('shrinking.bin', ramp)
    const source = await openFile(path)
    await truncate(path, 400)
    await expect(readBytes(source, 300, 200)).rejects.toMatchObject({
      code: 'file/truncated',
      message: `${path}: expected 200 bytes at byte 300, but the file has 400 bytes.`,
    })
    await source.close()
  })

  it('closes twice and refuses to read afterwards', async () => {
    const path = await file('closed.bin', ramp)
    const source = await openFile(path)
    await source.close()
    await source.close()
    await expect(readBytes(source, 0, 1)).rejects.toMatchObject({
      code: 'file/closed',
      message: `${path}: read after the source was closed.`,
    })
  })

  it('follows symbolic links', async () => {
    const link = join(folder, 'link.bin')
    await symlink(await file('target.bin', 'abc'), link)
    const source = await openFile(link)
    expect(source.byteLength).toBe(3)
    await source.close()
  })
})

describe('openFile refuses', () => {
  it('a missing file', async () => {
    const path = join(folder, 'missing.gguf')
    await expect(openFile(path)).rejects.toMatchObject({
      code: 'file/not-found',
      message: `${path}: no such file.`,
      hint: 'Check the spelling and the current directory.',
    })
  })

  it('an empty path', async () => {
    await expect(openFile('')).rejects.toMatchObject({
      code: 'file/not-found',
      message: 'Expected the path of a file, found an empty text.',
    })
  })

  it('a path through a file', async () => {
    const path = join(await file('plain', 'x'), 'model.gguf')
    await expect(openFile(path)).rejects.toMatchObject({ code: 'file/not-found' })
  })

  it('a directory', async () => {
    await expect(openFile(folder)).rejects.toMatchObject({
      code: 'file/is-directory',
      message: `${folder}: expected a file, found a directory.`,
    })
  })

  it('a name that is too long', async () => {
    await expect(openFile(join(folder, 'x'.repeat(300)))).rejects.toMatchObject({
      code: 'file/open-failed',
      message: expect.stringContaining('ENAMETOOLONG'),
    })
  })

  it('a name with a zero byte', async () => {
    await expect(openFile('a\0b')).rejects.toMatchObject({ code: 'file/open-failed' })
  })

  it.skipIf(process.platform === 'win32')('a pipe, without waiting for a writer', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    await expect(openFile(path)).rejects.toMatchObject({
      code: 'file/not-a-file',
      message: `${path}: expected a regular file, found a device, pipe or socket.`,
    })
  })

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a file without read permission (the superuser may read all)',
    async () => {
      const path = await file('secret.bin', 'x')
      await chmod(path, 0)
      await expect(openFile(path)).rejects.toMatchObject({
        code: 'file/no-permission',
        message: `${path}: no permission to read this file.`,
      })
    },
  )
})
