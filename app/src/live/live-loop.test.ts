import { expect, test } from 'vitest'
import { CELLS_HIGH, CELLS_WIDE } from './change-detector.ts'
import { LiveLoop, type LookOutcome } from './live-loop.ts'

/** Scenes as different as day and night: a bright half that stands somewhere else. */
function scene(place: number): Uint8Array {
  return Uint8Array.from({ length: CELLS_WIDE * CELLS_HIGH }, (_, at) =>
    ((at % CELLS_WIDE) + place * 8) % CELLS_WIDE < 16 ? 200 : 50,
  )
}

interface Run {
  readonly loop: LiveLoop
  readonly log: string[]
}

/**
 * A camera of 10 frames a second before `sceneAt`, and a model that takes `lookMs`.
 *
 * @returns `look A 300`, `answered A 700`, …
 */
function run(
  sceneAt: (ms: number) => number,
  untilMs: number,
  {
    lookMs = 400,
    firstTextMs = 200,
    outcome = () => 'answered' as LookOutcome,
    loop = new LiveLoop(),
  }: {
    lookMs?: number
    firstTextMs?: number
    outcome?: (look: number) => LookOutcome
    loop?: LiveLoop
  } = {},
): Run {
  const log: string[] = []
  let look: { name: string; from: number } | undefined
  let looks = 0
  const name = (ms: number): string => String.fromCharCode(65 + sceneAt(ms))
  for (let ms = 0; ms <= untilMs; ms += 100) {
    if (look && ms - look.from >= firstTextMs) loop.textCame()
    if (look && ms - look.from >= lookMs) {
      const end = outcome(looks++)
      loop.lookEnded(end, ms)
      log.push(`${end} ${look.name} ${ms}`)
      look = undefined
    }
    const decision = loop.frame(scene(sceneAt(ms)), ms)
    if (decision === 'look') {
      look = { name: name(ms), from: ms }
      log.push(`look ${look.name} ${ms}`)
    }
    if (decision === 'abandon' && look) {
      loop.lookEnded('abandoned', ms)
      log.push(`abandoned ${look.name} ${ms}`)
      look = undefined
    }
  }
  return { loop, log }
}

test('a scene is looked at once it rests, and not again while it stays', () => {
  const { log, loop } = run(() => 0, 30_000)
  expect(log).toEqual(['look A 300', 'answered A 700'])
  expect(loop.status(30_000)).toMatchObject({ isLooking: false, typicalLookMs: 400, failures: 0 })
  expect(loop.status(30_000).busyShare).toBeCloseTo(400 / 60_000, 6)
  expect(loop.status(61_000).busyShare).toBe(0)
})

test('each scene that comes is looked at once', () => {
  const { log } = run((ms) => Math.floor(ms / 5000), 14_900)
  expect(log).toEqual([
    'look A 300',
    'answered A 700',
    'look B 5300',
    'answered B 5700',
    'look C 10300',
    'answered C 10700',
  ])
})

test('at most one look a second, and the newest scene wins: what passed meanwhile is left out', () => {
  // B and C stand for 400 ms each, D stays.
  const { log } = run((ms) => (ms < 800 ? 0 : ms < 1200 ? 1 : ms < 1600 ? 2 : 3), 6000, { lookMs: 900 })
  expect(log).toEqual([
    'look A 300',
    'answered A 1200',
    'look C 1500',
    'answered C 2400',
    'look D 2700',
    'answered D 3600',
  ])
  const starts = log.filter((line) => line.startsWith('look')).map((line) => Number(line.split(' ')[2]))
  for (const [index, start] of starts.slice(1).entries())
    expect(start - (starts[index] ?? 0)).toBeGreaterThanOrEqual(1000)
})

test('a look without a word yet is given up for a scene that has come to rest, but never twice in a row', () => {
  const { log } = run((ms) => Math.min(2, Math.floor(ms / 1500)), 20_000, { lookMs: 4000, firstTextMs: 3500 })
  expect(log).toEqual([
    'look A 300',
    'abandoned A 1800',
    'look B 1900',
    'answered B 5900',
    'look C 6900',
    'answered C 10900',
  ])
  // Once a word came it goes on to its end.
  const begun = run((ms) => (ms < 1500 ? 0 : 1), 6000, { lookMs: 3000, firstTextMs: 500 })
  expect(begun.log.slice(0, 2)).toEqual(['look A 300', 'answered A 3300'])
})

test('who never holds still is told every few seconds all the same', () => {
  const { log } = run((ms) => Math.floor(ms / 200) % 4, 9000)
  const starts = log.filter((line) => line.startsWith('look')).map((line) => Number(line.split(' ')[2]))
  expect(starts[0]).toBe(2500)
  expect(starts.length).toBeGreaterThanOrEqual(2)
})

test('failures are tried again, later and later, and an answer forgives them', () => {
  const { log, loop } = run(() => 0, 30_000, { outcome: (look) => (look < 4 ? 'failed' : 'answered') })
  const starts = log.filter((line) => line.startsWith('look')).map((line) => Number(line.split(' ')[2]))
  // 300, then 1, 3, 10 and 10 s after each failure, which itself took 400 ms.
  expect(starts).toEqual([300, 1700, 5100, 15_500, 25_900])
  expect(loop.status(30_000).failures).toBe(0)
})

test('on a low battery a slow model rests twice as long as it looks', () => {
  const loop = new LiveLoop()
  loop.setPower({ isCharging: false, batteryLevel: 0.15 })
  const { log } = run((ms) => Math.floor(ms / 1000), 12_000, { lookMs: 2000, firstTextMs: 100, loop })
  const starts = log.filter((line) => line.startsWith('look')).map((line) => Number(line.split(' ')[2]))
  // 2000 ms of looking are a third of 6060.
  expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(6000)
  expect(loop.status(12_000).pace).toEqual({ duty: 0.33, reason: 'low-battery' })
})

test('after a pause the scene is looked at again, and a question makes looks wait', () => {
  const { loop } = run(() => 0, 2000)
  expect(loop.frame(scene(0), 2100)).toBe('wait')
  loop.forget()
  loop.restUntil(4000)
  const decisions = [2200, 2500, 3900, 4000].map((ms) => loop.frame(scene(0), ms))
  expect(decisions).toEqual(['wait', 'wait', 'wait', 'look'])
})
