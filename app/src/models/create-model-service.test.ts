import { signal } from '@preact/signals'
import { EngineError, type LoadModelOptions } from 'onsight'
import { describe, expect, it } from 'vitest'
import type { EngineModel, ModelPlace } from '../engine/engine.ts'
import { createUnguardedOwnership, type EngineOwnership } from '../engine/engine-ownership.ts'
import { createModelService, type ModelService } from './create-model-service.ts'
import { createLoadMarks } from './load-marks.ts'

interface Load {
  readonly place: ModelPlace
  readonly options: LoadModelOptions
  resolve(): void
  reject(error: unknown): void
}

/** An engine whose loads end when the test says so. */
function setUp({
  model = 'tiny',
  ownership = createUnguardedOwnership(),
  marked,
}: {
  model?: string
  ownership?: EngineOwnership
  marked?: string
} = {}) {
  const loads: Load[] = []
  const disposed: string[] = []
  const kept = new Map<string, string>(marked === undefined ? [] : [['onsight.loading', marked]])
  let onLost = (_error: EngineError): void => {}
  let now = 0
  const chosen = signal(model)
  const service = createModelService({
    engine: {
      loadModel: (place, options = {}) =>
        new Promise((resolve, reject) => {
          const model = { dispose: async () => void disposed.push(String(place)) } as EngineModel
          loads.push({ place, options, resolve: () => resolve(model), reject })
        }),
      onLost(listener) {
        onLost = listener
        return () => {}
      },
      dispose: () => void disposed.push('engine'),
    },
    chosen,
    ownership,
    marks: createLoadMarks(() => ({
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    })),
    loadOptions: async () => ({ memoryLimit: 1000 }),
    now: () => now,
  })
  return {
    service,
    chosen,
    loads,
    disposed,
    kept,
    lose: (error = new EngineError('backend/lost', { message: 'gone' })) => onLost(error),
    pass: (ms: number) => {
      now += ms
    },
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))
const last = (loads: readonly Load[]): Load => loads.at(-1) as Load
const stateOf = ({ state }: ModelService): string => `${state.peek().state} ${state.peek().name}`

describe('loading', () => {
  it('the bundled model is ready once it is loaded, without a limit of memory', async () => {
    const { service, loads } = setUp()
    await settled()
    expect([last(loads).place, last(loads).options.memoryLimit]).toEqual(['bundled:tiny', undefined])
    last(loads).options.onProgress?.({ loadedBytes: 1, totalBytes: 4 })
    expect(service.state.peek()).toEqual({ state: 'loading', name: 'tiny', loadedBytes: 1, totalBytes: 4 })
    const ready = service.ready()
    last(loads).resolve()
    await ready
    expect(stateOf(service)).toBe('ready tiny')
  })

  it('another choice ends what loads and gives back what is there', async () => {
    const { service, chosen, loads, disposed } = setUp({ model: 'smolvlm-500m' })
    await settled()
    const first = last(loads)
    expect([first.place, first.options.memoryLimit]).toEqual(['stored:smolvlm-500m', 1000])
    chosen.value = 'tiny'
    await settled()
    expect(first.options.signal?.aborted).toBe(true)
    // The first came through all the same; nobody wants it.
    first.resolve()
    last(loads).resolve()
    await service.ready()
    await settled()
    expect(disposed).toEqual(['stored:smolvlm-500m'])
    chosen.value = 'smolvlm-256m'
    await settled()
    expect([disposed.at(-1), last(loads).place]).toEqual(['bundled:tiny', 'stored:smolvlm-256m'])
  })

  it('ready() is rejected by a failure, and by its own signal', async () => {
    const { service, loads } = setUp()
    const controller = new AbortController()
    const aborted = service.ready(controller.signal)
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    const failing = service.ready()
    await settled()
    const error = new EngineError('file/read-failed', { message: 'The server did not answer.' })
    last(loads).reject(error)
    await expect(failing).rejects.toBe(error)
    expect(service.state.peek()).toEqual({ state: 'failed', name: 'tiny', error })
    service.reload()
    await settled()
    last(loads).resolve()
    await service.ready()
  })
})

describe('the bundled model answers instead', () => {
  it.each([
    ['hub/not-stored', 'missing'],
    ['hub/damaged', 'damaged'],
    ['format/truncated', 'damaged'],
    ['config/bad-field', 'damaged'],
    ['backend/memory-limit', 'too-large'],
    ['backend/out-of-memory', 'too-large'],
  ] as const)('of one that fails with %s: %s', async (code, reason) => {
    const { service, chosen, loads, kept } = setUp({ model: 'smolvlm-500m' })
    await settled()
    expect(kept.get('onsight.loading')).toBe('smolvlm-500m')
    const error = new EngineError(code, { message: 'model.safetensors: ends too early.' })
    last(loads).reject(error)
    await settled()
    expect([service.notice.peek(), chosen.peek(), last(loads).place, [...kept]]).toEqual([
      { reason, name: 'smolvlm-500m', error },
      'tiny',
      'bundled:tiny',
      [],
    ])
  })

  it('of one that ended the page while it was loaded', async () => {
    const { service, loads, kept } = setUp({ model: 'smolvlm-2.2b', marked: 'smolvlm-2.2b' })
    await settled()
    expect(service.notice.peek()).toEqual({ reason: 'crashed', name: 'smolvlm-2.2b' })
    expect([loads.map(({ place }) => place), [...kept]]).toEqual([['bundled:tiny'], []])
  })

  it('not of one that was not chosen any more', async () => {
    const { service } = setUp({ model: 'smolvlm-256m', marked: 'smolvlm-2.2b' })
    expect(service.notice.peek()).toBeUndefined()
  })

  it('not where the worker is to blame', async () => {
    const { service, chosen, loads } = setUp({ model: 'smolvlm-500m' })
    await settled()
    last(loads).reject(new EngineError('backend/lost', { message: 'gone' }))
    await settled()
    expect([stateOf(service), chosen.peek()]).toEqual(['failed smolvlm-500m', 'smolvlm-500m'])
  })
})

describe('a lost worker', () => {
  it('is started again once without asking, then somebody has to', async () => {
    const { service, loads, lose, pass } = setUp()
    await settled()
    last(loads).resolve()
    await service.ready()
    lose()
    expect(stateOf(service)).toBe('loading tiny')
    await settled()
    last(loads).resolve()
    await service.ready()
    lose()
    expect(stateOf(service)).toBe('failed tiny')
    service.reload()
    await settled()
    last(loads).resolve()
    await service.ready()
    pass(60_000)
    lose()
    expect(stateOf(service)).toBe('loading tiny')
    await settled()
    expect(loads).toHaveLength(4)
  })

  it('nothing is started for one that is lost while it loads', async () => {
    const { service, loads, lose } = setUp()
    await settled()
    lose()
    await settled()
    expect([loads.length, stateOf(service)]).toEqual([1, 'loading tiny'])
  })
})

describe('two tabs', () => {
  /** The other tab has it until the test says otherwise. */
  function createTakenOwnership() {
    let free = (): void => {}
    let take = (): void => {}
    const calls: string[] = []
    let isOurs = false
    const ownership: EngineOwnership = {
      acquire: async () => isOurs,
      waitFor: (signal) =>
        new Promise((resolve, reject) => {
          free = () => {
            isOurs = true
            resolve()
          }
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      takeOver: async () => {
        calls.push('take over')
        isOurs = true
      },
      release: () => {
        calls.push('release')
        isOurs = false
      },
      onTaken: (listener) => {
        take = () => {
          isOurs = false
          listener()
        }
      },
    }
    return { ownership, calls, free: () => free(), take: () => take() }
  }

  it('the second says so, and loads when the first is closed', async () => {
    const { ownership, free } = createTakenOwnership()
    const { service, loads } = setUp({ model: 'smolvlm-500m', ownership })
    await settled()
    expect(service.state.peek()).toMatchObject({
      state: 'failed',
      error: { code: 'backend/open-elsewhere', message: expect.stringContaining('smolvlm-500m') },
    })
    expect(loads).toEqual([])
    free()
    await settled()
    expect(last(loads).place).toBe('stored:smolvlm-500m')
  })

  it('the second takes over, the first gives its model back', async () => {
    const { ownership, calls, take } = createTakenOwnership()
    const { service, loads, disposed } = setUp({ model: 'smolvlm-500m', ownership })
    await settled()
    await service.takeOver()
    await settled()
    last(loads).resolve()
    await service.ready()
    expect(calls).toEqual(['take over'])
    take()
    expect(disposed).toEqual(['engine'])
    expect(service.state.peek()).toMatchObject({ state: 'failed', error: { code: 'backend/open-elsewhere' } })
  })

  it('the bundled model is small enough for every tab', async () => {
    const { ownership } = createTakenOwnership()
    const { service, loads } = setUp({ ownership })
    await settled()
    last(loads).resolve()
    await service.ready()
  })
})

it('a page that is put aside holds nothing, and comes back', async () => {
  const { service, loads, disposed, kept } = setUp({ model: 'smolvlm-500m' })
  await settled()
  service.release()
  expect([disposed, [...kept], stateOf(service)]).toEqual([['engine'], [], 'loading smolvlm-500m'])
  last(loads).reject(new EngineError('backend/disposed', { message: 'The engine was given back.' }))
  await settled()
  expect(stateOf(service)).toBe('loading smolvlm-500m')
  service.reload()
  await settled()
  last(loads).resolve()
  await service.ready()
})
