/** The page's side of the service worker: its start, its new versions, and the reload that may bring threads. */
import { signal } from '@preact/signals'
import { isolation, judgeIsolation } from './isolation.ts'
import { rememberProblem } from './recent-problems.ts'

/** In the tab, so that a reload that did not help is not tried again. */
const RELOADED_KEY = 'onsight.reloaded-for-threads'
/** For the first start of the worker, which fetches the shell; whoever waits longer starts without. */
const FIRST_START_MS = 4000
/** A page left open for days asks by itself for new versions. */
const UPDATE_CHECK_MS = 60 * 60 * 1000
/** What is kept for later does not compete with what is needed now. */
const KEEP_LATER_AFTER_MS = 10_000

/** A new version waits, or has taken over in another tab; it is not loaded before the person says so. */
export const isUpdateReady = signal(false)

let registration: ServiceWorkerRegistration | undefined

/** Resolves to whether to go on: false where the page is about to be loaded again. */
export async function startServiceWorker(): Promise<boolean> {
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined
  // In development the files change with every keystroke.
  if (!container || import.meta.env.DEV) return judge(false)
  const hadController = container.controller !== null
  const wasInstalled = await isInstalled(container)
  try {
    registration = await container.register(new URL('service-worker.js', document.baseURI), {
      updateViaCache: 'none',
    })
  } catch (error) {
    rememberProblem(error)
  }
  if (!registration) return judge(wasInstalled)
  watchForUpdates(container, registration, hadController)
  // Past a forced reload it stays without; there is nothing to wait for.
  if (!hadController && !wasInstalled) await controlOf(container)
  setTimeout(keepLaterFiles, KEEP_LATER_AFTER_MS)
  return judge(wasInstalled)
}

/** Loads the page anew, with the new version. */
export function takeUpdate(): void {
  const { waiting } = registration ?? {}
  if (!waiting) {
    location.reload()
    return
  }
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
  waiting.postMessage('take-over')
}

function judge(wasInstalled: boolean): boolean {
  const found = judgeIsolation({
    isIsolated: crossOriginIsolated,
    isSecure: isSecureContext,
    cores: navigator.hardwareConcurrency,
    isControlled: Boolean(navigator.serviceWorker?.controller),
    wasInstalled,
    hasReloaded: hasReloaded(),
  })
  if (found === 'reload') {
    if (!setReloaded(true)) {
      isolation.value = 'refused'
      return true
    }
    location.reload()
    return false
  }
  if (found === 'isolated') setReloaded(false)
  isolation.value = found
  return true
}

async function isInstalled(container: ServiceWorkerContainer): Promise<boolean> {
  try {
    return Boolean((await container.getRegistration())?.active)
  } catch {
    return false
  }
}

function controlOf(container: ServiceWorkerContainer): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FIRST_START_MS)
    container.addEventListener(
      'controllerchange',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

function watchForUpdates(
  container: ServiceWorkerContainer,
  { waiting }: ServiceWorkerRegistration,
  hadController: boolean,
): void {
  const found = registration as ServiceWorkerRegistration
  if (waiting && hadController) isUpdateReady.value = true
  found.addEventListener('updatefound', () => {
    const next = found.installing
    next?.addEventListener('statechange', () => {
      if (next.state === 'installed' && container.controller) isUpdateReady.value = true
    })
  })
  if (hadController) {
    container.addEventListener('controllerchange', () => {
      isUpdateReady.value = true
    })
  }
  let checked = Date.now()
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || Date.now() - checked < UPDATE_CHECK_MS) return
    checked = Date.now()
    // Offline it cannot be asked.
    found.update().catch(() => {})
  })
}

function keepLaterFiles(): void {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } }
  if (!connection?.saveData) navigator.serviceWorker.controller?.postMessage('keep-later-files')
}

function hasReloaded(): boolean {
  try {
    return sessionStorage.getItem(RELOADED_KEY) !== null
  } catch {
    return true
  }
}

/** False where the browser keeps nothing: then a reload could go on for ever. */
function setReloaded(value: boolean): boolean {
  try {
    if (value) sessionStorage.setItem(RELOADED_KEY, '1')
    else sessionStorage.removeItem(RELOADED_KEY)
    return true
  } catch {
    return false
  }
}
