/** The service worker on a plain host: it brings threads and the start without a network. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../browser/find-chromium.ts'
import { APP_TIMEOUT_MS, type AppPage, AppPages } from './app-page.ts'

const chromium = findChromium()

/** Threads are wanted from four cores on, whatever this machine has. */
const eightCores = (): void => {
  Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => 8 })
}

const isControlled = ({ page }: AppPage): Promise<boolean> =>
  page.evaluate(() => navigator.serviceWorker.controller !== null)

describe.skipIf(chromium === undefined)('the service worker', { timeout: APP_TIMEOUT_MS }, () => {
  let app: AppPages
  beforeAll(async () => {
    app = await AppPages.start(chromium as string, { path: '/some/where/', isolated: false })
  }, APP_TIMEOUT_MS)
  afterAll(() => app.close())

  it('isolates the page by one reload, and keeps it so', async () => {
    const opened = await app.open('', { serviceWorker: true, before: eightCores })
    const { page, errors, close } = opened
    await page.waitForFunction(() => crossOriginIsolated)
    expect(await isControlled(opened)).toBe(true)
    const loads: string[] = []
    page.on('framenavigated', (frame) => loads.push(frame.url()))
    await page.reload()
    await page.waitForSelector('main h1')
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true)
    expect(loads).toHaveLength(1)
    expect(errors).toEqual([])
    await close()
  })

  it('does not load the page again where one thread is enough', async () => {
    const twoCores = (): void => {
      Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => 2 })
    }
    const opened = await app.open('', { serviceWorker: true, before: twoCores })
    expect(await isControlled(opened)).toBe(true)
    expect(await opened.page.evaluate(() => crossOriginIsolated)).toBe(false)
    await opened.close()
  })

  it('starts every screen without a network', async () => {
    const { page, context, errors, close } = await app.open('', {
      serviceWorker: true,
      before: eightCores,
    })
    await page.waitForFunction(() => crossOriginIsolated)
    await page.close()
    await context.setOffline(true)
    const cold = await context.newPage()
    cold.on('pageerror', (error) => errors.push(String(error)))
    for (const document of ['', 'index.html', 'connected.html']) {
      await cold.goto(`${app.url}${document}`)
      for (const screen of ['live', 'history', 'models', 'settings', 'ask']) {
        await cold.click(`nav a[href="#/${screen}"]`)
        await cold.waitForSelector('main h1')
      }
    }
    expect(await cold.evaluate(() => crossOriginIsolated)).toBe(true)
    expect(errors).toEqual([])
    await close()
  })

  it('gives each document, and the workers of each, their own policy', async () => {
    const { page, close } = await app.open('', { serviceWorker: true, before: eightCores })
    await page.waitForFunction(() => crossOriginIsolated)
    const connectRules = await page.evaluate(async () => {
      const script = (document.querySelector('script[src]') as HTMLScriptElement).src
      const addresses = ['.', 'connected.html', script, `${script}?connected=`]
      return Promise.all(
        addresses.map(async (address) => {
          const { headers } = await fetch(address)
          return /connect-src [^;]+/.exec(headers.get('content-security-policy') ?? '')?.[0]
        }),
      )
    })
    const [ofPrivate, ofConnected] = [
      "connect-src 'self'",
      "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
    ]
    expect(connectRules).toEqual([ofPrivate, ofConnected, ofPrivate, ofConnected])
    await close()
  })

  it('keeps pictures that another app shares', async () => {
    const { page, close } = await app.open('#/settings', { serviceWorker: true, before: eightCores })
    await page.waitForFunction(() => crossOriginIsolated)
    // As the browser does when an installed app is chosen in the sheet of another one.
    await page.evaluate(() => {
      const form = document.createElement('form')
      form.action = 'share'
      form.method = 'post'
      form.enctype = 'multipart/form-data'
      const input = document.createElement('input')
      input.type = 'file'
      input.name = 'pictures'
      const files = new DataTransfer()
      files.items.add(new File(['bytes of a picture'], 'shared.png', { type: 'image/png' }))
      input.files = files.files
      form.append(input)
      document.body.append(form)
      form.submit()
    })
    await page.waitForURL(/#\/ask/)
    expect(new URL(page.url()).pathname).toBe('/some/where/')
    await close()
  })
})
