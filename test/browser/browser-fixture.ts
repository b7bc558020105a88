/** One browser and one server for the tests of a file, with every request recorded. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { buildFixture } from './build-fixture.ts'
import { type PageServer, startPageServer } from './page-server.ts'

/** Quiet, so that what is recorded is the page's doing. */
const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Nothing is timed; this ends what hangs. */
export const BROWSER_TIMEOUT_MS = 180_000

/** Shorter, so that what the page reported is said before the test ends. */
const START_TIMEOUT_MS = 120_000

export class BrowserFixture {
  readonly #browser: Browser
  readonly #context: BrowserContext
  readonly #server: PageServer
  readonly #folder: string
  /** Addresses that pages and their workers asked for. */
  readonly requests: string[] = []

  private constructor(browser: Browser, context: BrowserContext, server: PageServer, folder: string) {
    this.#folder = folder
    this.#browser = browser
    this.#context = context
    this.#server = server
    context.on('request', (request) => this.requests.push(request.url()))
    context.setDefaultTimeout(BROWSER_TIMEOUT_MS)
  }

  static async start(executablePath: string): Promise<BrowserFixture> {
    const folder = mkdtempSync(join(tmpdir(), 'onsight-browser-'))
    const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
    const server = await startPageServer({
      app: await buildFixture(folder),
      unbundled: inRepository('test/browser/unbundled'),
      dist: inRepository('dist'),
      packages: inRepository('node_modules/@huggingface'),
      models: inRepository('models'),
      golden: inRepository('test/golden'),
    })
    const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: BROWSER_TIMEOUT_MS })
    return new BrowserFixture(browser, await browser.newContext(), server, folder)
  }

  get version(): string {
    return this.#browser.version()
  }

  get origin(): string {
    return this.#server.origin
  }

  /** Opens a page that has `onsight`, under one of the server's rules. Errors on the page go to `errors`. */
  async open(address: string, errors: string[] = []): Promise<Page> {
    const page = await this.#context.newPage()
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    await page.goto(`${this.origin}${address}`)
    await page
      .waitForFunction(() => 'onsight' in globalThis, undefined, { timeout: START_TIMEOUT_MS })
      .catch((cause: unknown) => {
        throw new Error(`${address} did not start: ${errors.join('; ') || 'it reported nothing'}`, { cause })
      })
    return page
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#server.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
