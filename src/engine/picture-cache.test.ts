import { beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../backend/backend.ts'
import { createReferenceBackend } from '../backend/reference/reference-backend.ts'
import { planFrames } from '../image/preprocess.ts'
import { preprocessorFromProjector } from '../image/preprocessor-config.ts'
import { RgbImage } from '../image/rgb-image.ts'
import type { Picture } from './picture.ts'
import { keyOfPicture, PictureCache } from './picture-cache.ts'

let backend: Backend
beforeEach(() => {
  backend = createReferenceBackend()
})

function encoded(key: string | undefined, byteLength: number): Picture {
  return { key, features: backend.alloc(byteLength) } as Picture
}

describe('the cache', () => {
  it('gives the same picture to everybody, and keeps it when nobody uses it', () => {
    const cache = new PictureCache(backend, 100)
    expect(cache.take('a')).toBeUndefined()
    const a = cache.put('a', encoded('a', 60))
    expect(cache.take('a')).toBe(a)
    cache.release(a)
    cache.release(a)
    expect(cache.take('a')).toBe(a)
    expect([cache.byteLength, backend.allocatedBytes]).toEqual([60, 60])
  })

  it('drops the least recently used, but nothing that is in use', () => {
    const cache = new PictureCache(backend, 100)
    const names = ['a', 'b', 'c']
    const pictures = names.map((name) => cache.put(name, encoded(name, 40)))
    // All are in use, beyond the budget.
    expect(backend.allocatedBytes).toBe(120)
    const [a, b, c] = pictures as [Picture, Picture, Picture]
    cache.release(b)
    expect([cache.take('b'), backend.allocatedBytes]).toEqual([undefined, 80])
    cache.release(a)
    cache.release(c)
    cache.release(cache.take('a') as Picture)
    cache.put('d', encoded('d', 40))
    expect([cache.take('c'), cache.take('a')]).toEqual([undefined, a])
    expect([cache.byteLength, backend.allocatedBytes]).toEqual([80, 80])
  })

  it('of no size keeps a picture as long as it is used', () => {
    const cache = new PictureCache(backend, 0)
    const a = cache.put('a', encoded('a', 40))
    expect(cache.take('a')).toBe(a)
    cache.release(a)
    expect(backend.allocatedBytes).toBe(40)
    cache.release(a)
    expect(backend.allocatedBytes).toBe(0)
  })

  it('keeps one of two that were encoded at the same time', () => {
    const cache = new PictureCache(backend, 100)
    const first = cache.put('a', encoded('a', 40))
    expect(cache.put('a', encoded('a', 40))).toBe(first)
    expect(backend.allocatedBytes).toBe(40)
    cache.release(first)
    cache.release(first)
    expect(cache.byteLength).toBe(40)
  })

  it('frees pictures that are not shared', () => {
    const cache = new PictureCache(backend, 100)
    cache.put('a', encoded('a', 40))
    cache.release(encoded(undefined, 40))
    cache.release(encoded('a', 40))
    expect([cache.byteLength, backend.allocatedBytes]).toEqual([40, 40])
  })
})

describe('the key of a picture', () => {
  const settings = preprocessorFromProjector(
    { projector: 'idefics3', imageSize: 32, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
    'test',
  )
  const image = new RgbImage(40, 30, new Uint8Array(3600).fill(7))
  const key = (
    changed: Partial<{
      image: RgbImage
      settings: typeof settings
      detail: 'low' | 'high'
      pool: number
    }> = {},
  ): Promise<string | undefined> => {
    const one = { image, settings, detail: 'high' as const, pool: 1, ...changed }
    return keyOfPicture(one.image, planFrames(one.image, one.settings, one.detail), one.pool)
  }

  it('is the same for a copy', async () => {
    const copy = new RgbImage(40, 30, new Uint8ClampedArray(3600).fill(7))
    expect(await key({ image: copy })).toBe(await key())
  })

  it('is another for other pixels, shapes, settings and looks', async () => {
    const pixel = new Uint8Array(3600).fill(7)
    pixel[3599] = 8
    const keys = await Promise.all([
      key(),
      key({ image: new RgbImage(40, 30, pixel) }),
      key({ image: new RgbImage(30, 40, new Uint8Array(3600).fill(7)) }),
      key({ settings: { ...settings, filter: 'nearest' } }),
      key({ settings: { ...settings, normalization: { ...settings.normalization, rescaleFactor: 1 } } }),
      key({ detail: 'low' }),
      key({ pool: 2 }),
    ])
    expect(new Set(keys).size).toBe(7)
  })
})
