import { expect, test } from 'vitest'
import { CELLS_HIGH, CELLS_WIDE } from './change-detector.ts'
import { LiveSession, type LookRequest } from './live-session.ts'

const SCENES = ['I see a dog on the left.', 'I see a dog on the left and a bus.', 'I see a train.']

function cells(scene: number): Uint8Array {
  return Uint8Array.from({ length: CELLS_WIDE * CELLS_HIGH }, (_, at) =>
    ((at % CELLS_WIDE) + scene * 8) % CELLS_WIDE < 16 ? 200 : 50,
  )
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A camera of 10 frames a second before a model that takes 300 ms and says what `answer` does. */
class World {
  ms = 0
  scene = 0
  readonly told: string[] = []
  readonly requests: LookRequest[] = []
  running = 0
  mostAtOnce = 0
  answer: (request: LookRequest) => string = () => SCENES[this.scene] ?? ''
  readonly session = new LiveSession(
    {
      picture: async () => new Blob([String(this.scene)]),
      look: (request) => this.#look(request),
      ability: () => 'trained-questions',
      tell: ({ text }) => this.told.push(`${this.ms} ${text}`),
      words: { appeared: (things) => `New: ${things}.`, gone: (things) => `Gone: ${things}.` },
      now: () => this.ms,
    },
    'describe',
  )
  #wake: (() => void)[] = []

  async *#look(request: LookRequest): AsyncGenerator<string> {
    this.requests.push(request)
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.running)
    try {
      const end = this.ms + 300
      const text = this.answer(request)
      while (this.ms < end && !request.signal.aborted)
        await new Promise<void>((resolve) => this.#wake.push(resolve))
      if (request.signal.aborted) throw new DOMException('stopped', 'AbortError')
      yield text.slice(0, 4)
      yield text.slice(4)
    } finally {
      this.running--
    }
  }

  async run(forMs: number): Promise<void> {
    for (const until = this.ms + forMs; this.ms < until; this.ms += 100) {
      this.session.frame(cells(this.scene))
      for (const wake of this.#wake.splice(0)) wake()
      await settled()
    }
  }
}

test('the first scene is told whole, then only what changes, one look at a time', async () => {
  const world = new World()
  await world.run(5000)
  world.scene = 1
  await world.run(5000)
  world.scene = 2
  await world.run(5000)
  expect(world.told).toEqual(['600 I see a dog on the left.', '5600 New: a bus.', '10600 I see a train.'])
  expect([world.requests.length, world.mostAtOnce]).toEqual([3, 1])
  expect(world.requests.map(({ earlier }) => earlier)).toEqual([undefined, SCENES[0], SCENES[1]])
  expect(world.session.log.value.map(({ text }) => text)).toEqual([
    'I see a train.',
    'New: a bus.',
    'I see a dog on the left.',
  ])
  expect(world.session.status.value).toMatchObject({ isLooking: false, typicalLookMs: 300 })
})

test('another mode tells the scene again; the same mode does not', async () => {
  const world = new World()
  await world.run(2000)
  world.session.setMode('describe')
  await world.run(2000)
  expect(world.told).toHaveLength(1)
  world.session.setMode('find', 'dog')
  await world.run(2000)
  expect(world.told).toEqual(['600 I see a dog on the left.', '4600 I see a dog on the left.'])
  expect(world.requests[1]).toMatchObject({ mode: 'find', question: 'dog', earlier: undefined })
})

test('a failure is shown, tried again, and forgotten once a look succeeds', async () => {
  const world = new World()
  let failures = 2
  world.answer = () => {
    if (failures-- > 0) throw new Error('out of memory')
    return SCENES[0] ?? ''
  }
  await world.run(1000)
  expect(world.session.problem.value).toMatchObject({ message: 'out of memory' })
  expect(world.session.status.value.failures).toBe(1)
  await world.run(10_000)
  expect([world.session.problem.value, world.told.length]).toEqual([undefined, 1])
})

test('a question stops the look, is answered about what is seen now, and looks go on after it', async () => {
  const world = new World()
  await world.run(400)
  expect(world.running).toBe(1)
  world.answer = ({ question }) => (question === '' ? 'I see a dog.' : 'Brown.')
  const deltas: string[] = []
  const asked = (async () => {
    for await (const delta of world.session.ask('What colour is it?', new AbortController().signal))
      deltas.push(delta)
  })()
  await world.run(200)
  expect([world.requests[0]?.signal.aborted, world.session.isAsking.value]).toEqual([true, true])
  await world.run(500)
  await asked
  expect([deltas.join(''), world.session.isAsking.value, world.told]).toEqual(['Brown.', false, []])
  expect(world.session.log.value[0]).toMatchObject({ question: 'What colour is it?', text: 'Brown.' })
  const looksBefore = world.requests.length
  world.scene = 2
  await world.run(2500)
  expect(world.requests).toHaveLength(looksBefore)
  await world.run(2000)
  expect(world.requests).toHaveLength(looksBefore + 1)
})

test('a pause stops what runs and tells nothing', async () => {
  const world = new World()
  await world.run(400)
  world.session.pause()
  await world.run(0)
  await settled()
  expect([world.requests[0]?.signal.aborted, world.told]).toEqual([true, []])
})
