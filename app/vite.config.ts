import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { bundledModels } from './build/bundled-models.ts'
import { documentPolicy } from './build/document-policy.ts'
import { serviceWorkerBuild } from './build/service-worker-build.ts'
import { webManifests } from './build/web-manifests.ts'

const library = fileURLToPath(new URL('../', import.meta.url))
const app = fileURLToPath(new URL('.', import.meta.url))
const { exports } = JSON.parse(readFileSync(`${library}package.json`, 'utf8'))

/** The published entries of the library as a browser gets them; nothing else of it can be imported. */
const entries = Object.entries(exports).flatMap(([name, target]) => {
  const browser = (target as { browser?: { default: string } }).browser ?? (target as { default?: string })
  if (typeof browser !== 'object' || !browser.default) return []
  return [
    { find: new RegExp(`^onsight${name.slice(1)}$`), replacement: `${library}${browser.default.slice(2)}` },
  ]
})

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export default defineConfig({
  root: app,
  // Relative addresses: the built files work at any path of any host.
  base: './',
  resolve: { alias: entries },
  plugins: [documentPolicy(), webManifests(), bundledModels(`${library}models`), serviceWorkerBuild()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: `${library}dist/app`,
    emptyOutDir: true,
    target: 'es2022',
    // Small files as data: addresses would need a weaker content security policy.
    assetsInlineLimit: 0,
    // The same app twice, under two content security policies: see src/shell/connection.ts.
    rolldownOptions: { input: [`${app}index.html`, `${app}connected.html`] },
  },
  server: { headers: isolation },
  preview: { headers: isolation },
})
