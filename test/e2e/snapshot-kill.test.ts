/** A process that dies in the middle of a save leaves the snapshot before it, whole. Runs the built package. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadModel } from '../../src/entry/index.node.ts'
import { goldenPath } from '../support/golden-model.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const folders = useTemporaryFolders()
const SCRIPT = fileURLToPath(new URL('../support/save-forever.mjs', import.meta.url))
const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const PROCESSES = 12
/** Longer than a save takes. */
const MOST_MS = 12

/** Lets it save `whole` times, then kills it some way into the next one. Returns how many saves it has told of. */
async function killWhileSaving(child: ChildProcess, whole: number, afterMs: number): Promise<number> {
  let saved = 0
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (line === 'saved') saved++
    if (line !== 'saving' || saved < whole) continue
    // Timers are too coarse for the beginning of a save.
    if (afterMs > 1) await wait(afterMs)
    child.kill('SIGKILL')
    break
  }
  await once(child, 'exit')
  return saved
}

test('kill -9 at random moments of a save', async () => {
  const path = join(folders.create({}), 'chat.snapshot')
  const random = new SeededRandom(42)
  const model = await loadModel(goldenPath('../../models/tiny'), { kv: 'f32' })
  let interrupted = 0
  for (let run = 0; run < PROCESSES; run++) {
    const before = unfinished(path)
    const child = spawn(process.execPath, [SCRIPT, path, PICTURE], { stdio: ['ignore', 'pipe', 'inherit'] })
    const saved = await killWhileSaving(child, 1 + random.below(3), random.uniform() * MOST_MS)
    const chat = await model.restore(path)
    // What was told to be saved is there; the save that was killed may have been done.
    const rounds = chat.turns.filter(({ role }) => role === 'user').map(({ text }) => text)
    expect(rounds).toEqual(Array.from({ length: rounds.length }, (_, round) => `Round ${round}`))
    expect([saved, saved + 1, saved + 2]).toContain(rounds.length)
    expect(chat.turns[0]?.imageCount).toBe(1)
    chat.dispose()
    if (unfinished(path) > before) interrupted++
  }
  // Else the test has seen nothing but whole saves.
  expect(interrupted).toBeGreaterThanOrEqual(1)
  await model.dispose()
}, 180_000)

/** Files that a killed save left behind. */
function unfinished(path: string): number {
  return readdirSync(join(path, '..')).filter((name) => name.endsWith('.part')).length
}
