import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GOOD_TOKEN } from '../../test/support/fake-hub.ts'
import { EngineError } from '../shared/errors.ts'
import {
  BYTES,
  eventLines,
  failure,
  ggufBytes,
  ID,
  openTestHub,
  openWithGguf,
  pullWeights,
  SHA256,
  WEIGHTS,
} from './test-hub.case.ts'

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
      damagedFiles: [],
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
