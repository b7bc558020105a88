/**
 * Lets the app start without a network, and gives it the headers that plain hosts cannot send. It never looks at what
 * goes to another origin, and keeps no models but the bundled one.
 */
import { PrecacheController } from 'workbox-precaching/PrecacheController.js'
import { builtFiles } from './built-files.ts'
import { withIsolatingHeaders } from './isolating-headers.ts'
import { LaterFiles } from './later-files.ts'
import { keepSharedPictures, SHARE_PATH, SHARED_CACHE } from './shared-pictures.ts'

declare const self: ServiceWorkerGlobalScope

const base = self.registration.scope
const shell = new PrecacheController()
shell.addToCacheList([...builtFiles.shell])
const later = new LaterFiles(builtFiles.later, base, {
  openCache: () => self.caches.open(`onsight-later ${base}`),
  fetch: (address, init) => self.fetch(address, init),
})

self.addEventListener('install', (event) => {
  event.waitUntil(shell.install(event))
})

self.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([shell.activate(event), later.deleteOthers()]).then(() => self.clients.claim()))
})

self.addEventListener('message', (event) => {
  // Only when the person agreed: a new version takes over from one that may be answering.
  if (event.data === 'take-over') event.waitUntil(self.skipWaiting())
  if (event.data === 'keep-later-files') event.waitUntil(later.keepAll().catch(() => {}))
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const address = new URL(request.url)
  if (!address.href.startsWith(base)) return
  const path = address.pathname.slice(new URL(base).pathname.length)
  if (request.method === 'POST' && path === SHARE_PATH) {
    event.respondWith(
      self.caches.open(SHARED_CACHE).then((cache) => keepSharedPictures(request, base, cache)),
    )
    return
  }
  if (request.method !== 'GET') return
  const file = new URL(fileOf(path), base).href
  if (shell.getCacheKeyForURL(file)) event.respondWith(answerFromShell(file, address))
  else if (later.has(file)) {
    event.respondWith(later.answer(file).then((response) => withIsolatingHeaders(response, address)))
  } else if (path.startsWith('models/')) {
    // Engines ask which files a model has: known without a network.
    event.respondWith(new Response('There is no such file.', { status: 404 }))
  }
})

/** Hosts differ in how they call a document. */
function fileOf(path: string): string {
  if (path === '' || path === 'index') return 'index.html'
  return path === 'connected' ? 'connected.html' : path
}

async function answerFromShell(file: string, address: URL): Promise<Response> {
  const kept = await shell.matchPrecache(file)
  // A browser that is short of space may have taken it.
  return withIsolatingHeaders(kept ?? (await self.fetch(file)), address)
}
