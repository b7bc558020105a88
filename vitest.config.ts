import { defineConfig } from 'vitest/config'

export default defineConfig({
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
