import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What the app imports, as a browser gets it; from source, so that no build is needed. */
const entries = ['index', 'assistant', 'speech', 'hub'].map((name) => ({
  find: new RegExp(`^onsight${name === 'index' ? '' : `/${name}`}$`),
  replacement: fileURLToPath(new URL(`src/entry/${name}.browser.ts`, import.meta.url)),
}))

export default defineConfig({
  resolve: { alias: entries },
  test: {
    include: [
      'src/**/*.test.ts',
      'test/**/*.test.ts',
      'app/**/*.test.ts',
      'app/**/*.test.tsx',
      'scripts/**/*.test.mjs',
    ],
    // Processes, not threads: the engine sets V8 flags, starts workers of its own and measures resident memory.
    pool: 'forks',
    // Tests are never timed, and machines may be slow or shared: these limits only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
