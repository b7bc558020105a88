/** Conversations far longer than the context: nothing fails, and nothing grows. */
import { describe, expect, it } from 'vitest'
import { loadModel, type WhenFull } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const CONTEXT = 1024

/** A picture that no turn had before. */
function inventPicture(seed: number): { data: Uint8Array; width: number; height: number } {
  return {
    data: Uint8Array.from({ length: 3 * 24 * 16 }, (_, index) => (index * 5 + seed * 11) % 256),
    width: 24,
    height: 16,
  }
}

describe.each<[WhenFull, number]>([
  ['drop-oldest', 1000],
  ['summarise', 100],
])('%s', (whenFull, turns) => {
  it(`holds a conversation of ${turns} turns in a context of ${CONTEXT} tokens`, async () => {
    const model = await loadModel(goldenPath('smolvlm-one-tile'), {
      contextLength: CONTEXT,
      imageCacheBytes: 4096,
    })
    const chat = model.chat({ system: 'You are brief.', whenFull })
    const allocated: number[] = []
    let residentBytes = 0
    let trimmings = 0
    let mostTurns = 0
    for (let turn = 0; turn < turns; turn++) {
      const images = turn % 10 === 0 ? [inventPicture(turn)] : []
      const text = `Question ${turn}: what is it, and 这是什么?`
      const answer = await ask(chat, { text, images }, { maxTokens: 8 }, ({ type }) => {
        if (type === 'context-trimmed') trimmings++
      })
      expect(answer.usage.promptTokens).toBeLessThan(CONTEXT)
      expect(answer.finishReason).not.toBe('context-full')
      expect(chat.turns[0]?.text.startsWith('You are brief.')).toBe(true)
      expect(chat.turns.findLast(({ imageCount }) => imageCount > 0)?.text).toContain(
        `Question ${turn - (turn % 10)}:`,
      )
      mostTurns = Math.max(mostTurns, chat.turns.length)
      allocated.push(model.info.allocatedBytes)
      if (turn === turns >> 1) residentBytes = process.memoryUsage.rss()
    }
    const grownMegabytes = (process.memoryUsage.rss() - residentBytes) / 1e6
    const half = allocated.length >> 1
    expect(Math.max(...allocated.slice(half))).toBeLessThanOrEqual(Math.max(...allocated.slice(0, half)))
    expect(grownMegabytes).toBeLessThan(60)
    // Turns that were dropped are gone, and not each turn drops some.
    expect(mostTurns).toBeLessThan(CONTEXT / 15)
    expect(trimmings).toBeGreaterThan(turns / 50)
    expect(trimmings).toBeLessThan(turns / 3)
    await model.dispose()
  })
})
