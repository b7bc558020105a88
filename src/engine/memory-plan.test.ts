import { describe, expect, it } from 'vitest'
import type { DecoderConfig } from '../models/model-config.ts'
import { type MemoryNeeds, type MemoryOutcome, planMemory } from './memory-plan.ts'

const MB = 1e6
const DECODER = { layers: 32, kvHeads: 5, headDim: 64, dim: 960, contextLength: 8192 } as DecoderConfig
/** SmolVLM-500M: four tiles along the long side down to one, then pooled. */
const LOOKS = [
  { tokens: 1088, edge: 2048, resizedEdge: 2048, scratchBytes: 0 },
  { tokens: 640, edge: 1536, resizedEdge: 1536, scratchBytes: 0 },
  { tokens: 320, edge: 1024, resizedEdge: 1024, scratchBytes: 0 },
  { tokens: 64, edge: 512, resizedEdge: 512, scratchBytes: 0 },
  { tokens: 16, edge: 512, resizedEdge: 512, scratchBytes: 245_760 },
]
const NEEDS: MemoryNeeds = {
  limitBytes: 0,
  programBytes: 130 * MB,
  weightBytes: 376 * MB,
  loadingBytes: 16.8 * MB,
  runStateBytes: (tokens) => Math.max(22, tokens * 0.1) * MB,
  decoder: DECODER,
  kvTypes: ['f16', 'q8'],
  passTokens: 256,
  contextLength: 8192,
  looks: LOOKS,
  imageCacheBytes: 32 * MB,
}

function plan(limitMegabytes: number, changes: Partial<MemoryNeeds> = {}): MemoryOutcome {
  return planMemory({ ...NEEDS, ...changes, limitBytes: limitMegabytes * MB })
}

function settingsOf(limitMegabytes: number, changes: Partial<MemoryNeeds> = {}) {
  const outcome = plan(limitMegabytes, changes)
  if (!outcome.fits) throw new Error(`Nothing fits into ${limitMegabytes} MB.`)
  return outcome.settings
}

describe('planMemory', () => {
  it('leaves everything as it was wished where there is enough', () => {
    expect(settingsOf(3000)).toMatchObject({
      kv: 'f16',
      contextLength: 8192,
      maxPassTokens: 256,
      imageTokens: 1088,
      imageCacheBytes: 32 * MB,
    })
    expect(settingsOf(20_000).pictureLimits?.maxPixels).toBe(2 ** 27)
  })

  it.each([
    // limit, kv, least and most tokens of context, pass, tokens of a picture
    [1200, 'f16', 8192, 8192, 256, 1088],
    [1000, 'q8', 8192, 8192, 256, 1088],
    [800, 'q8', 2176, 8191, 256, 1088],
    [680, 'q8', 2048, 8191, 256, 640],
    [655, 'q8', 2048, 8191, 256, 320],
    [610, 'q8', 512, 2047, 256, 320],
  ] as const)(
    '%i MB: %s, %i to %i tokens, passes of %i, pictures of %i',
    (limit, kv, least, most, pass, image) => {
      const found = settingsOf(limit)
      expect([found.kv, found.maxPassTokens, found.imageTokens]).toEqual([kv, pass, image])
      expect(found.contextLength).toBeGreaterThanOrEqual(least)
      expect(found.contextLength).toBeLessThanOrEqual(most)
    },
  )

  it('never exceeds its limit, wastes little, and gets better with it', () => {
    let before = 0
    for (let limit = 560; limit < 2400; limit += 7) {
      const outcome = plan(limit)
      if (!outcome.fits) {
        expect(outcome.leastBytes).toBeGreaterThan(limit * MB)
        continue
      }
      const { totalBytes, parts } = outcome.plan
      expect(totalBytes).toBe(parts.reduce((sum, { bytes }) => sum + bytes, 0))
      expect(totalBytes).toBeLessThanOrEqual(limit * MB)
      expect(totalBytes).toBeGreaterThan(limit * MB * 0.98)
      const { contextLength, imageTokens = 0, kv, bufferBytes, pictureLimits } = outcome.settings
      expect(imageTokens * 2).toBeLessThanOrEqual(contextLength)
      const reading = parts.find(({ use }) => use === 'reading-pictures')?.bytes ?? 0
      expect(bufferBytes + NEEDS.programBytes + reading).toBeLessThanOrEqual(limit * MB)
      expect(pictureLimits?.maxPixels).toBeGreaterThanOrEqual(1e6)
      // 16 bits for keys and values come only with the whole context, and a good context before detail.
      const context = contextLength === 8192 ? 2e6 : contextLength >= 2048 ? 1e6 : 0
      const worth = (kv === 'f16' ? 1e9 : 0) + context + imageTokens
      expect(worth).toBeGreaterThanOrEqual(before)
      before = worth
    }
    expect(before).toBe(1e9 + 2e6 + 1088)
  })

  it('says what it needs at least where nothing fits, which then fits', () => {
    const outcome = plan(500)
    if (outcome.fits) throw new Error('500 MB should not be enough.')
    expect(plan(Math.ceil(outcome.leastBytes / MB)).fits).toBe(true)
    expect(plan(outcome.leastBytes / MB - 1).fits).toBe(false)
    expect(outcome.parts.map(({ use }) => use)).toEqual([
      'program',
      'weights',
      'run-state',
      'keys-and-values',
      'picture-features',
      'reading-pictures',
    ])
  })

  it('makes passes smaller where their workspace is what does not fit', () => {
    const changes = { looks: [], runStateBytes: (tokens: number) => tokens * MB, contextLength: 512 }
    const passes = [1000, 700, 620, 570].map((limit) => settingsOf(limit, changes).maxPassTokens)
    expect(passes).toEqual([256, 128, 64, 32])
  })

  it('plans no pictures for text models', () => {
    const outcome = plan(900, { looks: [] })
    if (!outcome.fits) throw new Error('It should fit.')
    expect(outcome.plan.imageTokens).toBeUndefined()
    expect(outcome.settings).toMatchObject({
      imageTokens: undefined,
      pictureLimits: undefined,
      imageCacheBytes: 0,
    })
    expect(outcome.plan.parts.map(({ use }) => use)).toEqual([
      'program',
      'weights',
      'run-state',
      'keys-and-values',
    ])
  })

  it('takes a short context as it is, although a picture fills it', () => {
    expect(settingsOf(900, { contextLength: 100 })).toMatchObject({ contextLength: 100, imageTokens: 1088 })
  })

  it('lets later buffers lie in the place of staging memory only where they fit', () => {
    const small = { looks: [], contextLength: 512, weightBytes: 10 * MB }
    const parts = (runState: number) => {
      const outcome = plan(400, { ...small, runStateBytes: () => runState * MB })
      return outcome.fits ? outcome.plan.parts.find(({ use }) => use === 'run-state')?.bytes : undefined
    }
    const cache = 512 * (32 * 2 * 5 * 64 * 2 * 1.25 + 512)
    // In the gap of 16.8 MB lies the workspace, then the cache as far as it fits.
    expect(parts(2)).toBe(2 ** 20 + 2 * MB)
    // The workspace is too large for it; the cache of 26.5 MB is not.
    expect(cache).toBeGreaterThan(16.8 * MB)
    expect(parts(20)).toBe(2 ** 20 + 20 * MB)
  })
})
