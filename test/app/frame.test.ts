/** The frame of the app in a real browser: it starts, changes screens, and keeps to its policy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../browser/find-chromium.ts'
import { APP_TIMEOUT_MS, AppPages } from './app-page.ts'

const chromium = findChromium()

describe.skipIf(chromium === undefined)('the frame', { timeout: APP_TIMEOUT_MS }, () => {
  let app: AppPages
  beforeAll(async () => {
    app = await AppPages.start(chromium as string, { path: '/some/where/' })
  }, APP_TIMEOUT_MS)
  afterAll(() => app.close())

  it('starts under a path of the host', async () => {
    const { page, errors, requests, close } = await app.open()
    await page.click('nav a[href="#/settings"]')
    expect(await page.textContent('main h1')).toBe('Settings')
    expect(new URL(page.url()).hash).toBe('#/settings')
    expect(errors).toEqual([])
    expect(requests.filter((address) => !address.startsWith(app.url))).toEqual([])
    await close()
  })

  it('is Chinese for a Chinese browser', async () => {
    const { page, close } = await app.open('#/settings', { locale: 'zh-CN' })
    expect(await page.textContent('main h1')).toBe('设置')
    await close()
  })

  it.each([
    ['', 'refused'],
    ['connected.html', 'asked'],
  ])('%s: what happens to a request to another origin', async (document, expected) => {
    const { page, errors, close } = await app.open(document)
    await page.route('https://example.invalid/**', (route) =>
      route.fulfill({ body: 'asked', headers: { 'access-control-allow-origin': '*' } }),
    )
    const found = await page.evaluate(() =>
      fetch('https://example.invalid/x').then(
        (response) => response.text(),
        () => 'refused',
      ),
    )
    expect(found).toBe(expected)
    if (found === 'refused')
      await expect.poll(() => errors).toContainEqual('policy: connect-src https://example.invalid/x ')
    await close()
  })

  it('makes no script or markup of text', async () => {
    const { page, close } = await app.open()
    const attempts = await page.evaluate(() => {
      const tried = (attempt: () => unknown): string => {
        try {
          attempt()
          return 'done'
        } catch (error) {
          return (error as Error).name
        }
      }
      return {
        markup: tried(() => {
          document.body.innerHTML = '<p>text</p>'
        }),
        foreignWorker: tried(() => new Worker('https://example.invalid/worker.js')),
        blobWorker: tried(() => new Worker(URL.createObjectURL(new Blob(['1'])))),
      }
    })
    expect(attempts).toEqual({
      markup: 'TypeError',
      foreignWorker: 'TypeError',
      blobWorker: 'TypeError',
    })
    await close()
  })
})
