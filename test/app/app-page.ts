/**
 * The built app in Chromium for the tests of a file, with everything recorded that it asked for and complained of.
 *
 * @example
 * const app = await AppPages.start(chromium as string, { media: { video: 'scene.y4m' } })
 * const { page, errors } = await app.open('#/live', { locale: 'zh-CN' })
 */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { type AppServer, startAppServer } from './app-server.ts'
import { buildApp } from './build-app.ts'

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
export const APP_TIMEOUT_MS = 90_000

export interface AppPagesOptions {
  /** Where on the host the app is. Default: at its root. */
  readonly path?: string
  /** Whether the host sends the headers that allow threads. Default true. */
  readonly isolated?: boolean
  /** A fake camera and microphone, allowed without a question; a `.y4m` or `.mjpeg` and a `.wav` file to play in them. */
  readonly media?: { readonly video?: string; readonly audio?: string }
  /** An address where something serves the app already, such as that of `onsight serve`. Default: an own server. */
  readonly url?: string
}

export interface OpenOptions extends BrowserContextOptions {
  /** Whether the app may have its service worker. Default false: one thing less that differs between two runs. */
  readonly serviceWorker?: boolean
  /** Runs in the page before the app's own scripts. */
  readonly before?: () => void
}

/** One page of a person, with storage of its own. */
export interface AppPage {
  readonly page: Page
  readonly context: BrowserContext
  /** What the console and the page complained of, and what broke the content security policy. */
  readonly errors: string[]
  /** Addresses that the page, its workers and the service worker asked for, `data:` and `blob:` left out. */
  readonly requests: string[]
  close(): Promise<void>
}

export class AppPages {
  readonly #browser: Browser
  readonly #server: AppServer | undefined
  /** Where the app is, with a slash at the end. */
  readonly url: string

  private constructor(browser: Browser, url: string, server: AppServer | undefined) {
    this.#browser = browser
    this.#server = server
    this.url = url
  }

  static async start(executablePath: string, options: AppPagesOptions = {}): Promise<AppPages> {
    const { path = '/', isolated = true, media, url } = options
    const server = url === undefined ? await startAppServer(await buildApp(), { path, isolated }) : undefined
    const flags = media
      ? [
          '--use-fake-device-for-media-stream',
          '--use-fake-ui-for-media-stream',
          ...(media.video === undefined ? [] : [`--use-file-for-fake-video-capture=${media.video}`]),
          ...(media.audio === undefined ? [] : [`--use-file-for-fake-audio-capture=${media.audio}`]),
        ]
      : []
    const browser = await chromium.launch({
      executablePath,
      args: [...FLAGS, ...flags],
      timeout: APP_TIMEOUT_MS,
    })
    return new AppPages(browser, url ?? (server as AppServer).url, server)
  }

  get version(): string {
    return this.#browser.version()
  }

  get origin(): string {
    return new URL(this.url).origin
  }

  /**
   * Opens the app in a new profile and waits until a screen stands.
   * @param address Behind the app's own address, such as `#/models` or `connected.html#/ask`.
   */
  async open(address = '', options: OpenOptions = {}): Promise<AppPage> {
    const { serviceWorker = false, before, ...contextOptions } = options
    const context = await this.#browser.newContext({
      locale: 'en-US',
      serviceWorkers: serviceWorker ? 'allow' : 'block',
      ...contextOptions,
    })
    context.setDefaultTimeout(APP_TIMEOUT_MS)
    const requests: string[] = []
    context.on('request', (request) => {
      if (/^(?:https?|wss?):/.test(request.url())) requests.push(request.url())
    })
    const errors: string[] = []
    await context.exposeBinding('reportViolation', (_source, text: string) => errors.push(text))
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
        const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void }
        reportViolation(`policy: ${violatedDirective} ${blockedURI} ${sample}`)
      })
    })
    if (before) await context.addInitScript(before)
    const page = await context.newPage()
    page.on('pageerror', (error) => errors.push(String(error.stack ?? error)))
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(`console: ${message.text()} ${message.location().url}`)
    })
    await page.goto(new URL(address, this.url).href)
    await page.waitForSelector('main h1').catch((cause: unknown) => {
      throw new Error(`${address} did not start: ${errors.join('; ') || 'it reported nothing'}`, { cause })
    })
    return { page, context, errors, requests, close: () => context.close() }
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#server?.close()
  }
}
