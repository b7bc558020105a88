import { describe, expect, it } from 'vitest'
import { ModelTurns, type Swap, type TurnPart } from './model-turns.ts'

function setUp(limit: number, sizes: Readonly<Record<string, number>>) {
  const swaps: string[] = []
  const live = new Set<string>()
  let held = 0
  let most = 0
  const part = (name: string, bytes: number): TurnPart<string> => ({
    estimatedBytes: bytes,
    load: async () => {
      await Promise.resolve()
      expect(live.has(name), `${name} is held twice`).toBe(false)
      live.add(name)
      held += bytes
      most = Math.max(most, held)
      return {
        value: name,
        bytes: () => bytes,
        release: async () => {
          await Promise.resolve()
          live.delete(name)
          held -= bytes
        },
      }
    },
  })
  const parts = Object.fromEntries(Object.entries(sizes).map(([name, bytes]) => [name, part(name, bytes)]))
  const turns = new ModelTurns(parts, limit, ({ part: name, kind }: Swap) => swaps.push(`${kind} ${name}`))
  return { turns, swaps, live, most: () => most }
}

const later = () => new Promise((resolve) => setTimeout(resolve, 1))

describe('models that take turns', () => {
  it('stay side by side where they fit', async () => {
    const { turns, swaps } = setUp(10, { ears: 3, eyes: 5, voice: 2 })
    for (const name of ['ears', 'eyes', 'voice', 'ears', 'eyes']) {
      expect(await turns.use(name, async (value) => value)).toBe(name)
    }
    expect(swaps).toEqual(['loaded ears', 'loaded eyes', 'loaded voice'])
    expect(turns.peakBytes).toBe(10)
    expect(turns.fitTogether('ears', 'eyes', 'voice')).toBe(true)
  })

  it('go in the order in which they were used, and only as many as must', async () => {
    const { turns, swaps, most } = setUp(8, { ears: 3, eyes: 5, voice: 2 })
    for (const name of ['ears', 'eyes', 'voice', 'ears']) await turns.use(name, async () => {})
    expect(swaps).toEqual([
      'loaded ears',
      'loaded eyes',
      'released ears',
      'loaded voice',
      'released eyes',
      'loaded ears',
    ])
    expect(most()).toBeLessThanOrEqual(8)
    expect(turns.peakBytes).toBe(8)
    expect(turns.fitTogether('eyes', 'voice')).toBe(true)
    expect(turns.fitTogether('ears', 'eyes', 'voice')).toBe(false)
  })

  it('are never driven out while they work', async () => {
    const { turns, swaps, live } = setUp(5, { ears: 3, eyes: 5 })
    let end = (): void => {}
    const working = turns.use('ears', () => new Promise<void>((resolve) => (end = resolve)))
    await later()
    const asked = turns.use('eyes', async () => expect([...live]).toEqual(['eyes']))
    await later()
    expect([...live]).toEqual(['ears'])
    end()
    await Promise.all([working, asked])
    expect(swaps).toEqual(['loaded ears', 'released ears', 'loaded eyes'])
  })

  it('come in before they are needed, unless somebody works', async () => {
    const { turns, swaps } = setUp(5, { ears: 3, eyes: 5 })
    turns.prepare('eyes')
    await later()
    expect(swaps).toEqual(['loaded eyes'])
    let end = (): void => {}
    const working = turns.use('eyes', () => new Promise<void>((resolve) => (end = resolve)))
    await later()
    turns.prepare('ears')
    await later()
    expect(swaps).toEqual(['loaded eyes'])
    end()
    await working
  })

  it('are loaded once for two who ask at the same time', async () => {
    const { turns, swaps } = setUp(5, { eyes: 5 })
    await Promise.all([turns.use('eyes', later), turns.use('eyes', later)])
    expect(swaps).toEqual(['loaded eyes'])
  })

  it('give up waiting when told to', async () => {
    const { turns } = setUp(5, { ears: 3, eyes: 5 })
    let end = (): void => {}
    const working = turns.use('ears', () => new Promise<void>((resolve) => (end = resolve)))
    await later()
    const controller = new AbortController()
    const asked = turns.use('eyes', later, controller.signal)
    await later()
    controller.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    end()
    await working
  })

  it('recover from a failed load', async () => {
    const { turns } = setUp(5, { ears: 3 })
    const failing: TurnPart<string> = { estimatedBytes: 1, load: () => Promise.reject(new Error('gone')) }
    const broken = new ModelTurns({ failing }, 5)
    await expect(broken.use('failing', later)).rejects.toThrow('gone')
    await expect(broken.use('failing', later)).rejects.toThrow('gone')
    await turns.use('ears', later)
  })

  it('refuse a limit that one of them alone exceeds', () => {
    expect(() => setUp(4_000_000, { eyes: 5_000_000 })).toThrow(
      expect.objectContaining({
        code: 'option/memory-limit',
        message: 'The eyes takes about 5 MB and cannot be used within 4 MB.',
      }),
    )
  })

  it('give everything back at the end', async () => {
    const { turns, live } = setUp(10, { ears: 3, eyes: 5 })
    await turns.use('ears', later)
    const last = turns.use('eyes', later)
    await turns.dispose()
    await last
    expect([...live]).toEqual([])
    await expect(turns.use('ears', later)).rejects.toMatchObject({ code: 'speech/disposed' })
  })
})
