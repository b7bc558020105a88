/** A hub of ours over a fake server, a folder that goes away after the test, and a clock that waits for nobody. */
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { FakeHub } from '../../test/support/fake-hub.ts'
import { openModelFolder } from '../host/node/file-host.ts'
import { createNodeHubPorts } from '../host/node/hub-ports.ts'
import { createNodeModelStorage } from '../host/node/model-storage.ts'
import { createAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { ModelHub } from './model-hub.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import type { PullEvent } from './pull.ts'
import type { ModelStorage } from './storage.ts'

export interface TestHub {
  readonly fake: FakeHub
  readonly hub: ModelHub
  readonly home: string
  /** Of all pulls with `onEvent: record`. */
  readonly events: PullEvent[]
  readonly record: (event: PullEvent) => void
  /** Milliseconds that were slept, in order. */
  readonly sleeps: number[]
  /** Another hub over the same folder and server. */
  open(settings?: Partial<HubSettings>, change?: (storage: ModelStorage) => ModelStorage): ModelHub
}

/** 2026-11-30T20:00:00Z */
const NOW = Date.UTC(2026, 10, 30, 20)

export async function openTestHub(settings: Partial<HubSettings> = {}): Promise<TestHub> {
  const fake = await FakeHub.start()
  const home = await mkdtemp(join(tmpdir(), 'onsight-hub-'))
  onTestFinished(async () => {
    await fake.stop()
    await rm(home, { recursive: true, force: true })
  })
  const sleeps: number[] = []
  const events: PullEvent[] = []
  const ports: HubPorts = {
    ...createNodeHubPorts(),
    clock: {
      now: () => NOW,
      sleep: async (ms, signal) => {
        sleeps.push(ms)
        if (signal?.aborted) throw createAbortError()
      },
      random: () => 1,
    },
  }
  const open: TestHub['open'] = (more = {}, change = (storage) => storage) =>
    new ModelHub(
      {
        storage: change(createNodeModelStorage(home)),
        ports,
        openStored: ({ location }) => location,
        openFiles: openModelFolder,
      },
      { endpoint: fake.endpoint, ...settings, ...more },
    )
  return { fake, hub: open(), home, events, record: (event) => void events.push(event), sleeps, open }
}

/** Bytes that begin like a GGUF file and repeat nowhere. */
export function ggufBytes(byteLength: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(byteLength)
  let state = seed
  for (let index = 0; index < byteLength; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[index] = state >>> 24
  }
  bytes.set(new TextEncoder().encode('GGUF').subarray(0, byteLength))
  return bytes
}

/** Events but for those that come with every chunk, as lines. */
export function eventLines(events: readonly PullEvent[]): string[] {
  return events
    .filter(({ type }) => type !== 'bytes-received')
    .map((event) => {
      switch (event.type) {
        case 'plan-made':
          return `plan ${event.files.length} files, ${event.totalBytes} bytes, ${event.keptBytes} kept`
        case 'file-started':
          return `${event.file} from ${event.fromByte}`
        case 'file-restarted':
          return `${event.file} anew: ${event.reason}`
        case 'retry-scheduled':
          return `${event.file} again in ${event.delayMs}: ${event.reason.replace(/http:\S+?:\d+/g, 'http://server')}`
        case 'file-verified':
          return `${event.file} verified`
        default:
          return event.type
      }
    })
}

/** A repository of one GGUF file. */
export const ID = 'someone/SmolThing-GGUF'
export const WEIGHTS = 'SmolThing-Q8_0.gguf'
export const BYTES = ggufBytes(300_000)
export const SHA256 = createHash('sha256').update(BYTES).digest('hex')

export async function openWithGguf(settings = {}): Promise<TestHub> {
  const test = await openTestHub(settings)
  test.fake.setRepository(ID, { files: { 'README.md': '# hello', [WEIGHTS]: BYTES }, licence: 'apache-2.0' })
  return test
}

/** The `EngineError` that a promise must be rejected with. */
export async function failure(promise: Promise<unknown>): Promise<EngineError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!EngineError.isInstance(error)) throw new Error(`expected an EngineError, found ${String(error)}`)
  return error
}

/** Hashes, since comparing long buffers byte by byte takes the test runner a second. */
export async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}

export async function pullWeights(test: TestHub): Promise<string> {
  const { model } = await test.hub.pull(ID, { onEvent: test.record })
  return hashOf(join(model.location, WEIGHTS))
}
