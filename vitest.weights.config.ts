import { defineConfig } from 'vitest/config'

/** Tests with the weights of published models, which packages of the public registries hold: see test/weights/README.md. */
export default defineConfig({
  test: {
    include: ['test/weights/**/*.weights.ts'],
    pool: 'forks',
    // Each file takes all cores, and the memory of a model.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
})
