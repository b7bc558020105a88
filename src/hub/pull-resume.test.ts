import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  BYTES,
  eventLines,
  failure,
  ggufBytes,
  hashOf,
  ID,
  openTestHub,
  openWithGguf,
  pullWeights,
  SHA256,
  type TestHub,
  WEIGHTS,
} from './test-hub.case.ts'

/** A folder model whose pull is stopped when the small files are whole and 100,000 bytes of the weights are there. */
async function stopAfterSmallFiles(test: TestHub, files: Record<string, string | Uint8Array>): Promise<void> {
  test.fake.setRepository(ID, { files })
  test.fake.addFaults('model.safetensors', { kind: 'stall', afterBytes: 100_000 })
  const controller = new AbortController()
  const left = new Set(['config.json', 'tokenizer.json', 'model.safetensors'])
  const stopped = test.hub.pull(ID, {
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === 'file-verified') left.delete(event.file)
      if (event.type === 'bytes-received' && event.receivedBytes === 100_000) left.delete(event.file)
      if (left.size === 0) controller.abort()
    },
  })
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
}

describe('resuming', () => {
  it('goes on after a cut connection, at the very byte', async () => {
    const test = await openWithGguf()
    test.fake.addFaults(WEIGHTS, { kind: 'cut', afterBytes: 100_000 }, { kind: 'cut', afterBytes: 50_000 })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=100000-', 'bytes=150000-'])
    expect(eventLines(test.events)).toEqual([
      'plan 1 files, 300000 bytes, 0 kept',
      `${WEIGHTS} from 0`,
      `${WEIGHTS} again in 1000: http://server/${ID}/resolve/${test.fake.commitOf(ID)}/${WEIGHTS}: the connection failed (UND_ERR_SOCKET).`,
      `${WEIGHTS} again in 1000: http://server/${ID}/resolve/${test.fake.commitOf(ID)}/${WEIGHTS}: the connection failed (UND_ERR_SOCKET).`,
      `${WEIGHTS} verified`,
    ])
    expect(test.sleeps).toEqual([1000, 1000])
  })

  it('goes on in the next run, and lists what is unfinished until then', async () => {
    const test = await openWithGguf()
    const { fake, hub, home } = test
    fake.addFaults(
      WEIGHTS,
      { kind: 'cut', afterBytes: 100_000 },
      ...Array(4).fill({ kind: 'status', status: 503 }),
    )
    const error = await failure(hub.pull(ID))
    expect([error.code, error.message]).toEqual([
      'hub/server-error',
      `${WEIGHTS}: ${new URL(fake.storeOrigin).host} answered 503 Service Unavailable.`,
    ])
    expect(await hub.list()).toEqual([])
    expect(await hub.listUnfinished()).toEqual([
      { id: ID, location: join(home, 'downloads', ID, 'SmolThing-Q8_0'), byteLength: 100_000 },
    ])
    fake.addFaults(WEIGHTS, { kind: 'status', status: 503 })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(eventLines(test.events).slice(0, 2)).toEqual([
      'plan 1 files, 300000 bytes, 100000 kept',
      `${WEIGHTS} from 100000`,
    ])
    expect(fake.rangesOf(WEIGHTS).at(-1)).toBe('bytes=100000-')
    expect(await hub.listUnfinished()).toEqual([])
  })

  it('does not fetch again what was finished', async () => {
    const test = await openTestHub()
    const { fake, hub } = test
    await stopAfterSmallFiles(test, {
      'config.json': '{"a":1}',
      'tokenizer.json': '{"b":2}',
      'model.safetensors': BYTES,
    })
    const before = fake.requests.length
    const { model } = await hub.pull(ID)
    expect(model.files.map(({ name }) => name)).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ])
    const later = fake.requests.slice(before).filter(({ path }) => /config|tokenizer/.test(path))
    expect(later).toEqual([])
  })

  it('waits longer and longer, then gives up', async () => {
    const { fake, hub, sleeps } = await openWithGguf()
    fake.addFaults(WEIGHTS, ...Array(5).fill({ kind: 'status', status: 502 }))
    await failure(hub.pull(ID))
    expect(sleeps).toEqual([1000, 2000, 4000, 8000])
  })

  it('waits as long as the server asks', async () => {
    const { fake, hub, sleeps } = await openWithGguf()
    fake.addFaults(WEIGHTS, { kind: 'status', status: 429, headers: { 'retry-after': '7' } })
    fake.addFaults('api', { kind: 'status', status: 503, headers: { 'retry-after': '3600' } })
    await hub.pull(ID)
    expect(sleeps).toEqual([60_000, 7000])
  })

  it('asks the hub again when the signed address of the object store has expired', async () => {
    const test = await openWithGguf()
    test.fake.addFaults(WEIGHTS, { kind: 'cut', afterBytes: 1000 }, { kind: 'status', status: 403 })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=1000-', 'bytes=1000-'])
  })

  it('gives up a connection that delivers nothing', async () => {
    const test = await openWithGguf({ idleTimeoutMs: 150 })
    test.fake.addFaults(WEIGHTS, { kind: 'stall', afterBytes: 200_000 })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(eventLines(test.events)[2]).toBe(
      `${WEIGHTS} again in 1000: http://server/${ID}/resolve/${test.fake.commitOf(ID)}/${WEIGHTS}: nothing came for 0.15 s.`,
    )
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=200000-'])
  })

  it('begins anew when the server ignores ranges, and says so', async () => {
    const test = await openWithGguf()
    test.fake.addFaults(WEIGHTS, { kind: 'cut', afterBytes: 100_000 }, { kind: 'ignore-range' })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(eventLines(test.events).slice(-2)).toEqual([
      `${WEIGHTS} anew: ranges-ignored`,
      `${WEIGHTS} verified`,
    ])
  })

  it('begins anew when the server calls the content otherwise', async () => {
    const test = await openWithGguf()
    test.fake.addFaults(WEIGHTS, { kind: 'cut', afterBytes: 100_000 }, { kind: 'call', run: () => {} })
    const changing = test.hub.pull(ID, {
      onEvent: (event) => {
        test.record(event)
        if (event.type === 'retry-scheduled') test.fake.changeEtags('-b')
      },
    })
    expect(await hashOf(join((await changing).model.location, WEIGHTS))).toBe(SHA256)
    expect(eventLines(test.events).slice(-2)).toEqual([`${WEIGHTS} anew: changed`, `${WEIGHTS} verified`])
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=100000-', undefined])
  })

  it('begins a file anew that a new commit has changed, and keeps the others', async () => {
    const test = await openTestHub()
    const { fake, hub } = test
    const files = { 'config.json': '{"a":1}', 'tokenizer.json': '{"b":2}', 'model.safetensors': BYTES }
    await stopAfterSmallFiles(test, files)
    const changed = ggufBytes(200_000, 9)
    fake.setRepository(ID, { files: { ...files, 'model.safetensors': changed } })
    const { model } = await hub.pull(ID, { onEvent: test.record })
    expect(await hashOf(join(model.location, 'model.safetensors'))).toBe(
      createHash('sha256').update(changed).digest('hex'),
    )
    expect(eventLines(test.events)).toEqual([
      'plan 3 files, 200014 bytes, 100014 kept',
      'model.safetensors anew: changed',
      'model.safetensors from 0',
      'model.safetensors verified',
    ])
  })

  it('gives up a server that never gives the same content twice', async () => {
    const test = await openWithGguf()
    const cut = { kind: 'cut', afterBytes: 1000 } as const
    test.fake.addFaults(WEIGHTS, ...Array(12).fill(cut))
    let count = 0
    const changing = test.hub.pull(ID, {
      onEvent: ({ type }) => {
        if (type === 'retry-scheduled') test.fake.changeEtags(`-${count++}`)
      },
    })
    expect(await failure(changing)).toMatchObject({
      code: 'hub/unstable',
      message: `${WEIGHTS}: begun anew 4 times; the server gives other content every time.`,
    })
  })
})

describe('hashes', () => {
  it('refuse a large file that is another, and leave nothing of it', async () => {
    const { fake, hub, home } = await openWithGguf()
    fake.addFaults(WEIGHTS, { kind: 'corrupt', atByte: 123_456 })
    const corrupt = Buffer.from(BYTES)
    corrupt[123_456]! ^= 0xff
    const found = createHash('sha256').update(corrupt).digest('hex')
    const error = await failure(hub.pull(ID))
    expect(error.code).toBe('hub/wrong-hash')
    expect(error.message).toBe(`${WEIGHTS}: expected SHA-256 ${SHA256}, found ${found}.`)
    expect(await hub.list()).toEqual([])
    expect((await readFile(join(home, 'downloads', ID, 'SmolThing-Q8_0', 'files', WEIGHTS))).byteLength).toBe(
      0,
    )
    await hub.pull(ID)
    expect(await hub.list()).toHaveLength(1)
  })

  it('refuse a small file by the hash that git gives it', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, {
      files: { 'config.json': '{"a":1}', 'tokenizer.json': '{}', 'model.safetensors': BYTES },
    })
    fake.addFaults('config.json', { kind: 'corrupt', atByte: 3 })
    const expected = createHash('sha1').update('blob 7\0{"a":1}').digest('hex')
    const error = await failure(hub.pull(ID))
    expect(error.code).toBe('hub/wrong-hash')
    expect(error.message.startsWith(`config.json: expected git SHA-1 ${expected}, found `)).toBe(true)
  })

  it('find pieces that do not fit together, and begin anew', async () => {
    const test = await openWithGguf()
    const wrong = Buffer.from(BYTES)
    wrong[5]! ^= 0xff
    const files = join(test.home, 'downloads', ID, 'SmolThing-Q8_0', 'files')
    await mkdir(files, { recursive: true })
    await writeFile(join(files, WEIGHTS), wrong.subarray(0, 1000))
    await writeFile(
      join(files, '..', 'journal.json'),
      JSON.stringify({ version: 1, id: ID, files: { [WEIGHTS]: { hash: SHA256, etag: SHA256 } } }),
    )
    expect(await pullWeights(test)).toBe(SHA256)
    expect(eventLines(test.events)).toEqual([
      'plan 1 files, 300000 bytes, 1000 kept',
      `${WEIGHTS} from 1000`,
      `${WEIGHTS} anew: wrong-hash`,
      `${WEIGHTS} verified`,
    ])
  })
})
