/** Snapshots that are cut, changed, or made to harm: always refused by name, never restored wrongly. */
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  EngineError,
  loadModel,
  type Model,
  readSnapshotText,
  type SnapshotText,
} from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { SeededRandom } from '../support/seeded-random.ts'

const HEAD_BYTES = 32
const REFUSALS = ['snapshot/not-a-snapshot', 'snapshot/version', 'snapshot/truncated', 'snapshot/damaged']

let model: Model
let good: Uint8Array
let text: SnapshotText
/** Where the text, the state, and the long bytes end. */
let textEnd: number
let stateEnd: number
let idleBytes: number
beforeAll(async () => {
  model = await loadModel(goldenPath('smolvlm-one-tile'), { precision: 'q8' })
  const chat = model.chat({ system: 'Be brief.' })
  const image = goldenPath('tiny-cases/pictures/000.png')
  await ask(chat, { text: 'What is it?', images: [image] }, { maxTokens: 4, ignoreEos: true, detail: 'low' })
  good = new Uint8Array(await (await chat.save()).arrayBuffer())
  chat.dispose()
  const view = new DataView(good.buffer)
  textEnd = HEAD_BYTES + view.getUint32(12, true)
  stateEnd = textEnd + view.getUint32(20, true)
  text = await readSnapshotText(good)
  idleBytes = model.info.allocatedBytes
})
afterAll(() => model.dispose())

/** The code of the refusal; anything else that happens fails the test. */
async function refusalOf(bytes: Uint8Array, work: (bytes: Uint8Array) => Promise<unknown>): Promise<string> {
  try {
    await work(bytes)
  } catch (error) {
    if (EngineError.isInstance(error) && REFUSALS.includes(error.code)) return error.code
    throw error
  }
  return 'none'
}

const restore = async (bytes: Uint8Array): Promise<void> => (await model.restore(bytes)).dispose()

/** What of the text is recovered: all of it, or a refusal. */
async function recover(bytes: Uint8Array): Promise<'whole' | string> {
  let found: SnapshotText | undefined
  const refusal = await refusalOf(bytes, async () => {
    found = await readSnapshotText(bytes)
  })
  if (found === undefined) return refusal
  expect(found).toEqual(text)
  return 'whole'
}

describe('a whole snapshot', () => {
  it('is restored, and its text read', async () => {
    expect([await refusalOf(good, restore), await recover(good)]).toEqual(['none', 'whole'])
    expect(good.length).toBeGreaterThan(stateEnd + 1000)
  })
})

describe('a flipped bit', () => {
  async function flip(at: number, bit: number): Promise<Uint8Array> {
    const bytes = good.slice()
    bytes[at] = (bytes[at] as number) ^ (1 << bit)
    return bytes
  }

  it('anywhere before the long bytes is found; outside of the text and its description the text is recovered', async () => {
    for (let at = 0; at < stateEnd; at++) {
      const bytes = await flip(at, at % 8)
      const expected = at < 8 ? 'snapshot/not-a-snapshot' : 'snapshot/damaged'
      expect([at, await refusalOf(bytes, restore)]).toEqual([at, expected])
      const holdsText = (at >= 12 && at < 20) || (at >= HEAD_BYTES && at < textEnd)
      const recovered = await recover(bytes)
      if (at < 8) expect(recovered).toBe('snapshot/not-a-snapshot')
      else if (holdsText) expect(['snapshot/damaged', 'snapshot/truncated']).toContain(recovered)
      else expect([at, recovered]).toEqual([at, 'whole'])
    }
  })

  it('in the long bytes is found, and the text recovered', async () => {
    const random = new SeededRandom(5)
    const places = Array.from({ length: 300 }, () => stateEnd + random.below(good.length - stateEnd))
    for (const at of [stateEnd, good.length - 5, good.length - 4, good.length - 1, ...places]) {
      const bytes = await flip(at, random.below(8))
      expect([at, await refusalOf(bytes, restore)]).toEqual([at, 'snapshot/damaged'])
      expect(await recover(bytes)).toBe('whole')
    }
    expect(model.info.allocatedBytes).toBe(idleBytes)
  })
})

describe('other damage', () => {
  it('cut anywhere: truncated; behind the text the text is recovered', async () => {
    const random = new SeededRandom(6)
    const places = Array.from({ length: 100 }, () => random.below(good.length))
    const edges = [1, 7, 8, 31, 32, 33, textEnd - 1, textEnd, stateEnd - 1, stateEnd, good.length - 1]
    for (const length of [...edges, ...places]) {
      const bytes = good.slice(0, length)
      expect([length, await refusalOf(bytes, restore)]).toEqual([length, 'snapshot/truncated'])
      expect([length, await recover(bytes)]).toEqual([
        length,
        length < textEnd ? 'snapshot/truncated' : 'whole',
      ])
    }
    expect(await refusalOf(good.slice(0, 0), restore)).toBe('snapshot/not-a-snapshot')
  })

  it('longer than it says', async () => {
    for (const extra of [1, 4, 5000]) {
      const bytes = new Uint8Array(good.length + extra)
      bytes.set(good)
      expect([await refusalOf(bytes, restore), await recover(bytes)]).toEqual(['snapshot/damaged', 'whole'])
    }
  })

  it('random stretches overwritten, moved or zeroed', async () => {
    const random = new SeededRandom(7)
    for (let round = 0; round < 200; round++) {
      const bytes = good.slice()
      const length = 1 + random.below(2000)
      const from = random.below(bytes.length - length)
      const to = random.below(bytes.length - length)
      if (round % 3 === 0) bytes.copyWithin(to, from, from + length)
      else if (round % 3 === 1) bytes.fill(0, to, to + length)
      else for (let at = to; at < to + length; at++) bytes[at] = random.below(256)
      const isSame = bytes.every((byte, at) => byte === good[at])
      if (isSame) continue
      expect(REFUSALS).toContain(await refusalOf(bytes, restore))
      await recover(bytes)
    }
  })

  it('other kinds of files', async () => {
    for (const content of ['', 'x', '{"turns":[]}', 'GGUF', 'a'.repeat(5000)]) {
      const bytes = new TextEncoder().encode(content)
      expect([await refusalOf(bytes, restore), await recover(bytes)]).toEqual([
        'snapshot/not-a-snapshot',
        'snapshot/not-a-snapshot',
      ])
    }
  })
})

/** A file whose checksums are right, whatever is in it. */
function forge(changes: {
  readonly text?: unknown
  readonly state?: unknown
  readonly version?: number
  readonly lengths?: readonly [text: number, state: number]
}): Uint8Array {
  const decoder = new TextDecoder()
  const encode = (value: unknown): Uint8Array =>
    new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
  const parse = (from: number, to: number): object => JSON.parse(decoder.decode(good.subarray(from, to)))
  const merge = (whole: object, change: unknown): unknown =>
    typeof change === 'object' && change !== null && !Array.isArray(change) ? { ...whole, ...change } : change
  const textBytes = encode(
    'text' in changes ? merge(parse(HEAD_BYTES, textEnd), changes.text) : parse(HEAD_BYTES, textEnd),
  )
  const stateBytes = encode(
    'state' in changes ? merge(parse(textEnd, stateEnd), changes.state) : parse(textEnd, stateEnd),
  )
  const head = good.slice(0, HEAD_BYTES)
  const view = new DataView(head.buffer)
  const fields = [
    changes.version ?? 1,
    changes.lengths?.[0] ?? textBytes.length,
    crc32(textBytes),
    changes.lengths?.[1] ?? stateBytes.length,
    crc32(stateBytes),
  ]
  for (const [index, field] of fields.entries()) view.setUint32(8 + index * 4, field, true)
  view.setUint32(28, crc32(head.subarray(0, 28)), true)
  return Buffer.concat([head, textBytes, stateBytes, good.subarray(stateEnd)])
}

const stateOf = (): {
  ids: number[]
  spans: { at: number }[]
  pictures: { tokens: number }[]
  fingerprint: object
} => JSON.parse(new TextDecoder().decode(good.subarray(textEnd, stateEnd)))

describe('right checksums over wrong contents', () => {
  it('the forger makes what is good', async () => {
    expect(await refusalOf(forge({}), restore)).toBe('none')
  })

  it.each([0, 2, 99, 2 ** 32 - 1])('version %i', async (version) => {
    const bytes = forge({ version })
    expect([await refusalOf(bytes, restore), await recover(bytes)]).toEqual(['snapshot/version', 'whole'])
  })

  it('a later version may keep its state in another form', async () => {
    expect(await recover(forge({ version: 2, state: 'not JSON at all' }))).toBe('whole')
  })

  it.each([
    [[2 ** 32 - 1, 10], 'snapshot/truncated'],
    [[10, 2 ** 32 - 1], 'snapshot/damaged'],
    [[2 ** 26, 2 ** 25], 'snapshot/truncated'],
    [[2 ** 26 + 1, 0], 'snapshot/truncated'],
    [[0, 0], 'snapshot/damaged'],
    [[0, 2 ** 25 + 1], 'snapshot/damaged'],
  ] as const)('lengths %o: %s, and nothing is allocated for them', async (lengths, code) => {
    expect(await refusalOf(forge({ lengths }), restore)).toBe(code)
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['no JSON', '{"turns": ['],
    ['a number', 7],
    ['no turns', { turns: 5 }],
    ['a turn that is null', { turns: [null] }],
    ['a role of its own', { turns: [{ role: 'tool', text: '', images: [] }] }],
    ['a picture behind the text', { turns: [{ role: 'user', text: 'ab', images: [{ at: 3 }] }] }],
    ['pictures out of order', { turns: [{ role: 'user', text: 'ab', images: [{ at: 2 }, { at: 1 }] }] }],
    ['a source that is none', { turns: [{ role: 'user', text: 'ab', images: [{ at: 0, source: {} }] }] }],
    ['a model without name', { model: 5 }],
  ])('a text that is %s', async (_, change) => {
    const bytes = forge({ text: change })
    expect([await refusalOf(bytes, restore), await refusalOf(bytes, readSnapshotText)]).toEqual([
      'snapshot/damaged',
      'snapshot/damaged',
    ])
  })

  it.each<[string, () => unknown]>([
    ['null', () => null],
    ['no JSON', () => '{'],
    ['a nest', () => '['.repeat(100_000)],
    ['without fingerprint', () => ({ fingerprint: { architecture: 'x' } })],
    ['with options that are none', () => ({ options: [] })],
    ['with ids beyond the vocabulary', () => ({ ids: stateOf().ids.map(() => 2 ** 31) })],
    ['with ids that are texts', () => ({ ids: ['1'] })],
    ['with fractions for ids', () => ({ ids: stateOf().ids.map((id) => id + 0.5) })],
    ['with one id less than keys', () => ({ ids: stateOf().ids.slice(1) })],
    ['with a million ids', () => ({ ids: new Array(1_000_000).fill(1) })],
    [
      'with pictures of other sizes',
      () => ({ pictures: stateOf().pictures.map((one) => ({ ...one, tokens: one.tokens + 1 })) }),
    ],
    [
      'with pictures beyond any size',
      () => ({ pictures: stateOf().pictures.map((one) => ({ ...one, tokens: 2 ** 50 })) }),
    ],
    ['without its picture', () => ({ pictures: [] })],
    [
      'with a picture to look at and none to find',
      () => ({ text: 1, pictures: [{ detail: 'low' }], featureBytes: 0, spans: [] }),
    ],
    ['with a span behind the end', () => ({ spans: [{ ...stateOf().spans[0], at: 1e6 }] })],
    ['with a span before the start', () => ({ spans: [{ ...stateOf().spans[0], at: -1 }] })],
    ['with a span of no picture', () => ({ spans: [{ ...stateOf().spans[0], picture: 3 }] })],
    ['with spans on top of each other', () => ({ spans: [stateOf().spans[0], stateOf().spans[0]] })],
    ['with sizes below zero', () => ({ featureBytes: -1 })],
    ['with sizes beyond numbers', () => ({ cacheBytes: 1e300 })],
    ['with keys of a type of its own', () => ({ kvType: 7 })],
  ])('a state %s', async (_, change) => {
    const bytes = forge({ state: change() })
    expect(await refusalOf(bytes, restore)).toBe('snapshot/damaged')
    expect(await recover(bytes)).toBe('whole')
    expect(model.info.allocatedBytes).toBe(idleBytes)
  })

  it('a size that the file does not have is a cut, before anything is allocated', async () => {
    // Keys of another type are not read, but they must be there.
    expect(await refusalOf(forge({ state: { kvType: 'F32', cacheBytes: 2 ** 40 } }), restore)).toBe(
      'snapshot/truncated',
    )
    expect(model.info.allocatedBytes).toBe(idleBytes)
  })

  it('options of another version are refused like those of model.chat', async () => {
    await expect(model.restore(forge({ state: { options: { magic: true } } }))).rejects.toMatchObject({
      code: 'option/unknown',
    })
    expect(model.info.allocatedBytes).toBe(idleBytes)
  })
})
