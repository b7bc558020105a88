import { describe, expect, it } from 'vitest'
import { keepSharedPictures } from './shared-pictures.ts'

describe('keepSharedPictures', () => {
  it('keeps files with their names and types, and sends the browser to the page', async () => {
    const kept = new Map<string, Response>()
    const form = new FormData()
    form.append('pictures', new File(['one'], '早餐.jpg', { type: 'image/jpeg' }))
    form.append('pictures', new File(['two'], 'b', { type: '' }))
    form.append('pictures', 'a text that claims to be a picture')
    const base = 'https://host.example/app/'
    const response = await keepSharedPictures(
      new Request(`${base}share`, { method: 'POST', body: form }),
      base,
      { put: async (key, value) => void kept.set(String(key), value) },
    )
    expect([response.status, response.headers.get('location')]).toEqual([303, `${base}#/ask?shared`])
    expect([...kept.keys()]).toEqual([`${base}shared/0`, `${base}shared/1`])
    const [first, second] = [...kept.values()] as [Response, Response]
    expect(await first.text()).toBe('one')
    expect(first.headers.get('content-type')).toBe('image/jpeg')
    expect(decodeURIComponent(first.headers.get('x-file-name') ?? '')).toBe('早餐.jpg')
    expect(second.headers.get('content-type')).toBe('application/octet-stream')
  })
})
