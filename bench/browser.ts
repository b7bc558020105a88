/**
 * Speed in a real browser, with the same measurements as `onsight bench`. Build first; needs Node 22.18 or later, which
 * runs TypeScript.
 *
 *     node bench/browser.ts [--shape smolvlm-500m] [--threads 2] [--rounds 3] [--plain]
 *
 * Of several rounds the best of each number counts, since machines are shared.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { BenchMeasurement } from '../src/engine/bench.ts'
import { BrowserFixture } from '../test/browser/browser-fixture.ts'
import { findChromium } from '../test/browser/find-chromium.ts'

const { values: options } = parseArgs({
  options: {
    shape: { type: 'string', default: 'smolvlm-500m' },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    /** Not isolated: one thread with a memory of its own. */
    plain: { type: 'boolean', default: false },
  },
})

/** Numbers of which less is better. */
const isCost = (name: string): boolean => /Ms|Megabytes/.test(name)

const chromium = findChromium()
if (chromium === undefined) throw new Error('There is no Chromium here; name one with CHROME_PATH.')
const fixture = await BrowserFixture.start(chromium)
try {
  const best: Record<string, number> = {}
  let last: BenchMeasurement | undefined
  for (let round = 0; round < Number(options.rounds); round++) {
    // A new page each time: the memory of the last one is given back.
    const page = await fixture.open(`/${options.plain ? 'plain' : 'isolated'}/unbundled/index.html`)
    last = (await page.evaluate(
      `Promise.all(['engine/bench.js', 'host/browser/worker-host.js', 'host/browser/snapshot-files.js'].map((path) => import('../dist/' + path))).then(
        ([{ measureModel }, { createBrowserWorkerHost }, { createSnapshotFiles }]) =>
          measureModel({ workers: createBrowserWorkerHost(), snapshots: createSnapshotFiles() }, ${JSON.stringify({ shape: options.shape })}, {
            threads: ${Number(options.threads)},
          }),
      )`,
    )) as BenchMeasurement
    await page.close()
    for (const [name, value] of Object.entries(last.numbers)) {
      const before = best[name] ?? value
      best[name] = isCost(name) ? Math.min(before, value) : Math.max(before, value)
    }
  }
  const { backend, threads } = last ?? {}
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores; Chromium ${fixture.version}; ${backend}, ${threads} threads`,
  )
  for (const [name, value] of Object.entries(best))
    console.log(`${name.padEnd(28)}${value.toFixed(1).padStart(12)}`)
} finally {
  await fixture.close()
}
