import { describe, expect, it } from 'vitest'
import { LaterFiles } from './later-files.ts'

const BASE = 'https://host.example/app/'

class FakeCache {
  readonly kept = new Map<string, Response>()
  async match(key: RequestInfo | URL): Promise<Response | undefined> {
    return this.kept.get(String(key))?.clone()
  }
  async put(key: RequestInfo | URL, response: Response): Promise<void> {
    this.kept.set(String(key), response)
  }
  async keys(): Promise<Request[]> {
    return [...this.kept.keys()].map((key) => new Request(key))
  }
  async delete(key: RequestInfo | URL): Promise<boolean> {
    return this.kept.delete((key as Request).url)
  }
}

function createFiles(answer: (address: string) => Response = () => new Response('weights')) {
  const cache = new FakeCache()
  const asked: string[] = []
  const files = new LaterFiles(
    [
      { url: 'models/tiny/model.safetensors', revision: 'b' },
      { url: 'assets/dictionary-abcdefgh.js', revision: null },
    ],
    BASE,
    {
      openCache: async () => cache,
      fetch: async (address) => {
        asked.push(address)
        return answer(address)
      },
    },
  )
  return { cache, asked, files }
}

const MODEL = `${BASE}models/tiny/model.safetensors`

describe('LaterFiles', () => {
  it('asks once for a file that several wait for, and never again', async () => {
    const { files, asked } = createFiles()
    const answers = await Promise.all([files.answer(MODEL), files.answer(MODEL), files.keepAll()])
    expect(await answers[0].text()).toBe('weights')
    expect(await answers[1].text()).toBe('weights')
    expect(await (await files.answer(MODEL)).text()).toBe('weights')
    expect(asked.filter((address) => address === MODEL)).toHaveLength(1)
  })

  it('passes on what it cannot keep, and keeps no error', async () => {
    const { files, cache } = createFiles(() => new Response('gone', { status: 503 }))
    const answer = await files.answer(MODEL)
    expect([answer.status, cache.kept.size]).toEqual([503, 0])
    const full = createFiles()
    full.cache.put = async () => {
      throw new DOMException('The disk is full.', 'QuotaExceededError')
    }
    expect(await (await full.files.answer(MODEL)).text()).toBe('weights')
  })

  it('deletes what an earlier version kept, and nothing else', async () => {
    const { files, cache } = createFiles()
    await cache.put(`${MODEL}?revision=a`, new Response('old'))
    await files.keepAll()
    await files.deleteOthers()
    expect([...cache.kept.keys()]).toEqual([`${MODEL}?revision=b`, `${BASE}assets/dictionary-abcdefgh.js`])
  })
})
