import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GOOD_TOKEN } from '../../test/support/fake-hub.ts'
import { EngineError } from '../shared/errors.ts'
import { eventLines, ggufBytes, openTestHub, type TestHub } from './test-hub.case.ts'

const ID = 'someone/SmolThing-GGUF'
const WEIGHTS = 'SmolThing-Q8_0.gguf'
const BYTES = ggufBytes(300_000)
const SHA256 = createHash('sha256').update(BYTES).digest('hex')

async function openWithGguf(settings = {}): Promise<TestHub> {
  const test = await openTestHub(settings)
  test.fake.setRepository(ID, { files: { 'README.md': '# hello', [WEIGHTS]: BYTES }, licence: 'apache-2.0' })
  return test
}

async function failure(promise: Promise<unknown>): Promise<EngineError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!EngineError.isInstance(error)) throw new Error(`expected an EngineError, found ${String(error)}`)
  return error
}

/** Hashes, since comparing long buffers byte by byte takes the test runner a second. */
async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}

async function pullWeights(test: TestHub): Promise<string> {
  const { model } = await test.hub.pull(ID, { onEvent: test.record })
  return hashOf(join(model.location, WEIGHTS))
}

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

describe('pull', () => {
  it('stores what a folder model needs, with hashes, and nothing else', async () => {
    const { fake, hub, home, events, record } = await openTestHub()
    const files = {
      'config.json': '{"model_type":"idefics3"}',
      'tokenizer.json': '{}',
      'chat_template.jinja': 'hi',
      'model.safetensors': ggufBytes(5000, 2),
    }
    const others = {
      'README.md': 'x',
      'onnx/model.onnx': 'x',
      'pytorch_model.bin': 'x',
      '.gitattributes': 'x',
    }
    fake.setRepository('HuggingFaceTB/SmolVLM-500M-Instruct', {
      files: { ...files, ...others },
      licence: 'apache-2.0',
    })
    const { model, wasStored } = await hub.pull('smolvlm-500m', { onEvent: record })
    const commit = fake.commitOf('HuggingFaceTB/SmolVLM-500M-Instruct')
    expect(wasStored).toBe(false)
    expect(model).toEqual({
      id: 'HuggingFaceTB/SmolVLM-500M-Instruct',
      revision: commit,
      requestedRevision: 'main',
      variant: 'safetensors',
      source: `${fake.endpoint}/HuggingFaceTB/SmolVLM-500M-Instruct`,
      licence: 'apache-2.0',
      committedAt: '2026-11-30T20:00:00.000Z',
      location: join(
        home,
        'models',
        'HuggingFaceTB',
        'SmolVLM-500M-Instruct',
        `${commit.slice(0, 12)}+safetensors`,
      ),
      byteLength: 5000 + 25 + 2 + 2,
      files: Object.entries(files)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, content]) => ({
          name,
          byteLength: content.length,
          sha256: createHash('sha256').update(content).digest('hex'),
          etag: expect.stringMatching(/^[0-9a-f]{40,64}$/),
        })),
    })
    expect((await readdir(model.location)).sort()).toEqual(
      [...Object.keys(files), 'onsight-model.json'].sort(),
    )
    expect(await readdir(home)).toEqual(['downloads', 'models'])
    expect(await readdir(join(home, 'downloads'))).toEqual([])
    expect(eventLines(events)[0]).toBe('plan 4 files, 5029 bytes, 0 kept')
    expect(await hub.list()).toEqual([model])
  })

  it('fetches nothing twice', async () => {
    const test = await openWithGguf()
    const { model } = await test.hub.pull(ID)
    expect(await test.hub.pull(ID)).toEqual({ model, wasStored: true })
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined])
  })

  it('takes the revision that was asked for, and keeps the others', async () => {
    const { fake, hub } = await openTestHub()
    const old = ggufBytes(100, 7)
    fake.setRepository(ID, { files: { [WEIGHTS]: BYTES }, revisions: { 'refs/pr/1': { [WEIGHTS]: old } } })
    await hub.pull(ID)
    const { model } = await hub.pull(ID, { revision: 'refs/pr/1' })
    expect([model.requestedRevision, model.byteLength]).toEqual(['refs/pr/1', 100])
    expect((await hub.find(`${ID}@refs/pr/1`))?.model).toEqual(model)
    expect((await hub.find(`${ID}@${fake.commitOf(ID).slice(0, 8)}`))?.model.byteLength).toBe(300_000)
    expect((await hub.find(`${ID}/${WEIGHTS}`))?.fileName).toBe(WEIGHTS)
    expect(await hub.list()).toHaveLength(2)
  })

  it('keeps kinds of weights apart and asks which is meant', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: { 'a-Q8_0.gguf': BYTES, 'a-Q4_K_M.gguf': ggufBytes(100, 3) } })
    expect((await hub.pull(ID)).model.variant).toBe('a-Q4_K_M')
    expect((await hub.pull(ID, { files: ['q8_0'] })).model.variant).toBe('a-Q8_0')
    expect(await failure(hub.find(ID))).toMatchObject({
      code: 'hub/ambiguous-model',
      message: `${ID}: several kinds of weights are stored: a-Q4_K_M, a-Q8_0.`,
      hint: `Name the file too: ${ID}/a-Q4_K_M.gguf`,
    })
    expect((await hub.find(`${ID}/a-Q8_0.gguf`))?.model.byteLength).toBe(300_000)
  })
})

describe('a token', () => {
  it('goes to the hub and not to where it redirects', async () => {
    const { fake, hub } = await openWithGguf({ token: GOOD_TOKEN })
    await hub.pull(ID)
    const seen = fake.requests.map(({ server, authorization }) => `${server} ${authorization ?? 'none'}`)
    expect(new Set(seen)).toEqual(new Set([`hub Bearer ${GOOD_TOKEN}`, 'store none']))
  })

  it('is nowhere in the store', async () => {
    const { hub, home } = await openWithGguf({ token: GOOD_TOKEN })
    const { model } = await hub.pull(ID)
    const manifest = await readFile(join(model.location, 'onsight-model.json'), 'utf8')
    expect(manifest).not.toContain(GOOD_TOKEN)
    expect(manifest).not.toContain('secret-signature')
    expect(await readdir(home, { recursive: true })).not.toContain(GOOD_TOKEN)
  })

  it('opens a gated model', async () => {
    const { fake, hub } = await openTestHub({ token: GOOD_TOKEN })
    fake.setRepository(ID, { files: { [WEIGHTS]: BYTES }, isGated: true })
    expect((await hub.pull(ID)).model.byteLength).toBe(300_000)
  })

  it.each([
    [undefined, 'everybody', 401, 'then set HF_TOKEN to a token of your account.'],
    ['hf_other', 'this HF_TOKEN', 403, 'with its account.'],
  ])('that is missing or has not accepted: %s', async (token, who, status, end) => {
    const { fake, hub } = await openTestHub(token === undefined ? {} : { token })
    fake.setRepository(ID, { files: { [WEIGHTS]: BYTES }, isGated: true })
    const error = await failure(hub.pull(ID))
    expect(error.code).toBe('hub/gated')
    expect(error.message).toBe(`${WEIGHTS} is not open to ${who} (${status}, GatedRepo).`)
    expect(error.hint).toMatch(new RegExp(`[Aa]ccept the licence at ${fake.endpoint}/${ID}[, ]`))
    expect(error.hint?.endsWith(end)).toBe(true)
    expect(JSON.stringify([error.message, error.hint])).not.toContain('hf_other')
  })
})

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

describe('answers that are no files', () => {
  it.each([
    ['with its type', undefined],
    ['that calls itself a file', 'application/octet-stream'],
  ])('a web page %s', async (_, type) => {
    const { fake, hub } = await openWithGguf()
    fake.addFaults(WEIGHTS, { kind: 'html', ...(type !== undefined && { type }) })
    const error = await failure(hub.pull(ID))
    expect(error.code).toBe('hub/html')
    const found = `expected a model file from ${fake.endpoint}/${ID}/resolve/${fake.commitOf(ID)}/${WEIGHTS}, found a web page.`
    expect(error.message).toBe(`${WEIGHTS}: ${found}`)
    expect(await hub.list()).toEqual([])
    await hub.pull(ID)
    expect(await hub.list()).toHaveLength(1)
  })

  it('a web page instead of the listing', async () => {
    const { fake, hub } = await openWithGguf()
    fake.addFaults('api', { kind: 'html' })
    expect(await failure(hub.pull(ID))).toMatchObject({
      code: 'hub/not-json',
      message: `${ID}: expected JSON, found a web page.`,
    })
  })

  it('a redirect in a circle', async () => {
    const { fake, hub } = await openWithGguf()
    fake.addFaults(WEIGHTS, ...Array(20).fill({ kind: 'redirect-loop' }))
    const error = await failure(hub.pull(ID))
    expect(error.code).toBe('hub/redirect-loop')
    expect(error.message).toContain('redirects in a circle (1 steps')
  })

  it.each(['ftp://example.com/x', 'file:///etc/passwd', 'javascript:1'])(
    'a redirect to %s',
    async (location) => {
      const { fake, hub } = await openWithGguf()
      fake.addFaults(WEIGHTS, { kind: 'redirect-to', location })
      expect((await failure(hub.pull(ID))).code).toBe('hub/bad-redirect')
    },
  )

  it('repositories, revisions and files that are not there', async () => {
    const { fake, hub } = await openWithGguf()
    expect(await failure(hub.pull('someone/nothing'))).toMatchObject({
      code: 'hub/not-found',
      message: 'someone/nothing does not exist, or is private (401, RepoNotFound).',
      hint: `Check the spelling at ${fake.endpoint}/someone/nothing; for a private model set HF_TOKEN.`,
    })
    expect(await failure(hub.pull(ID, { revision: 'v9' }))).toMatchObject({
      code: 'hub/not-found',
      message: `${ID}@v9 is not at ${fake.endpoint}/api/models/${ID}/revision/v9 (404, RevisionNotFound).`,
      hint: 'Check --revision: a branch, a tag or a commit.',
    })
    expect(await failure(hub.pull(ID, { files: ['Q2_K'] }))).toMatchObject({
      code: 'hub/no-such-file',
      message: `${ID} has no file for "Q2_K": ${WEIGHTS}.`,
    })
  })

  it('a hub that cannot be reached', async () => {
    const { open, sleeps } = await openWithGguf()
    const error = await failure(open({ endpoint: 'http://127.0.0.1:9' }).pull(ID))
    expect(error.code).toBe('hub/unreachable')
    expect(error.message).toMatch(
      /^http:\/\/127\.0\.0\.1:9\/api\/models\/\S+: the connection failed \(.+\)\.$/,
    )
    expect(sleeps).toEqual([1000, 2000])
  })
})

describe('the disk', () => {
  it('is looked at before anything is fetched', async () => {
    const { fake, open } = await openWithGguf()
    const hub = open({}, (storage) =>
      Object.assign(storage, { freeBytes: async () => 64 * 1024 * 1024 + 299_999 }),
    )
    expect(await failure(hub.pull(ID))).toMatchObject({
      code: 'hub/no-space',
      message: `${ID} needs 300000 more bytes, and 67108864 stay free; the disk has 67408863.`,
    })
    expect(fake.rangesOf(WEIGHTS)).toEqual([])
  })

  it('may be full in the middle: what was written is kept and used', async () => {
    const test = await openWithGguf()
    const full = test.open({}, (storage) => {
      const openDraft = storage.openDraft.bind(storage)
      return Object.assign(storage, {
        openDraft: async (path: readonly string[]) => {
          const draft = await openDraft(path)
          const openPart = draft.openPart.bind(draft)
          return Object.assign(draft, {
            openPart: async (name: string) => {
              const part = await openPart(name)
              const write = part.write.bind(part)
              return Object.assign(part, {
                write: async (bytes: Uint8Array, byteOffset: number) => {
                  const room = 200_000 - byteOffset
                  await write(bytes.subarray(0, room), byteOffset)
                  if (room >= bytes.byteLength) return
                  throw new EngineError('hub/no-space', { message: 'x: the disk is full (ENOSPC).' })
                },
              })
            },
          })
        },
      })
    })
    expect((await failure(full.pull(ID))).code).toBe('hub/no-space')
    expect((await test.hub.listUnfinished())[0]?.byteLength).toBe(200_000)
    expect(await pullWeights(test)).toBe(SHA256)
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=200000-'])
  })
})

describe('stopping', () => {
  it('ends at once, keeps what there is, and lets go of the lock', async () => {
    const test = await openWithGguf()
    test.fake.addFaults(WEIGHTS, { kind: 'stall', afterBytes: 150_000 })
    const controller = new AbortController()
    const stopped = test.hub.pull(ID, {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'bytes-received' && event.receivedBytes === 150_000) controller.abort()
      },
    })
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
    expect(await pullWeights(test)).toBe(SHA256)
    expect(test.fake.rangesOf(WEIGHTS)).toEqual([undefined, 'bytes=150000-'])
  })

  it('before it began', async () => {
    const { fake, hub } = await openWithGguf()
    await expect(hub.pull(ID, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
    expect(fake.requests).toEqual([])
  })
})

it('two pulls of one model do not meet', async () => {
  const test = await openWithGguf()
  test.fake.addFaults(WEIGHTS, { kind: 'slow', pieceBytes: 50_000, pauseMs: 20 })
  let second: Promise<EngineError> | undefined
  const first = test.hub.pull(ID, {
    onEvent: ({ type }) => {
      if (type === 'bytes-received') second ??= failure(test.open().pull(ID))
    },
  })
  expect((await first).model.byteLength).toBe(300_000)
  const error = await second
  expect(error?.code).toBe('hub/locked')
  expect(error?.message).toBe(`${ID} is being worked on by process ${process.pid}.`)
})

it('several files come at once', async () => {
  const { fake, hub } = await openTestHub()
  const files = Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [
      `m-0000${index + 1}-of-00005.gguf`,
      ggufBytes(10_000, index + 1),
    ]),
  )
  fake.setRepository(ID, { files })
  let active = 0
  let most = 0
  await hub.pull(ID, {
    onEvent: ({ type }) => {
      if (type === 'file-started') most = Math.max(most, ++active)
      if (type === 'file-verified') active--
    },
  })
  expect([most, active]).toEqual([3, 0])
})

describe('files at other addresses', () => {
  it('are fetched, and known by their address', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'm/model.gguf': BYTES } })
    const address = `${fake.endpoint}/plain/m/model.gguf?token=secret`
    const { model } = await hub.pull(address)
    const host = new URL(fake.endpoint).host.replace(':', '_')
    expect([model.id, model.variant, model.source]).toEqual([
      `${host}/model.gguf`,
      'model',
      `${fake.endpoint}/plain/m/model.gguf`,
    ])
    expect(model.files).toEqual([
      { name: 'model.gguf', byteLength: 300_000, sha256: SHA256, etag: SHA256.slice(0, 16) },
    ])
    expect((await hub.find(address))?.model).toEqual(model)
    expect((await hub.pull(address)).wasStored).toBe(true)
    expect(await readFile(join(model.location, 'onsight-model.json'), 'utf8')).not.toContain('secret')
  })

  it('are fetched anew when the server has others', async () => {
    const { fake, hub } = await openTestHub()
    const address = `${fake.endpoint}/plain/model.gguf`
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    await hub.pull(address)
    const changed = ggufBytes(1000, 5)
    fake.setRepository('plain', { files: { 'model.gguf': changed } })
    const { model, wasStored } = await hub.pull(address)
    expect(wasStored).toBe(false)
    expect(await readFile(join(model.location, 'model.gguf'))).toEqual(Buffer.from(changed))
    expect(await hub.list()).toEqual([model])
  })

  it('bring what lies beside safetensors', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', {
      files: {
        'm/model.safetensors': BYTES,
        'm/config.json': '{"a":1}',
        'm/tokenizer.json': '{}',
        'm/README.md': 'x',
      },
    })
    const { model } = await hub.pull(`${fake.endpoint}/plain/m/model.safetensors`)
    expect(model.files.map(({ name }) => name)).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ])
  })

  it('need a configuration beside safetensors', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'm/model.safetensors': BYTES } })
    expect(await failure(hub.pull(`${fake.endpoint}/plain/m/model.safetensors`))).toMatchObject({
      code: 'hub/not-found',
      message: `config.json is not at ${fake.endpoint}/plain/m/config.json (404).`,
    })
  })

  it('may be of unknown length', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    const unknown = { kind: 'unknown-length' } as const
    fake.addFaults('model.gguf', { kind: 'ignore-range' }, unknown)
    const { model } = await hub.pull(`${fake.endpoint}/plain/model.gguf`)
    expect(model.files[0]).toMatchObject({ byteLength: 300_000, sha256: SHA256 })
  })

  it('cannot be pages', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository('plain', { files: { 'model.gguf': BYTES } })
    fake.addFaults('model.gguf', { kind: 'html' })
    expect(await failure(hub.pull(`${fake.endpoint}/plain/model.gguf`))).toMatchObject({
      code: 'hub/html',
      message: `model.gguf: expected a model file from ${fake.endpoint}/plain/model.gguf, found a web page.`,
    })
  })
})
