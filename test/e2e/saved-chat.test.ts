/** `onsight chat --save` in one process, `--resume` in another. Runs the built command. */
import { copyFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { goldenPath } from '../support/golden-model.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'
import { readTinyCase, runOnsight } from './run-onsight.ts'

const folders = useTemporaryFolders()
const { picture, turns } = readTinyCase('024')
const lines = (from: number, to?: number): string =>
  turns
    .slice(from, to)
    .map(({ ask }) => `${ask}\n`)
    .join('')
const says = (from: number, to?: number): string =>
  turns
    .slice(from, to)
    .map((turn) => `${turn.says}\n`)
    .join('')
const f32 = ['--precision', 'f32']

test('the second half of a conversation in another process says what the reference says', async () => {
  expect(turns.length).toBeGreaterThanOrEqual(3)
  const folder = folders.create({})
  copyFileSync(picture, join(folder, 'picture.png'))
  const first = await runOnsight(['chat', 'picture.png', '--save', 'chat.snapshot', ...f32, '--quiet'], {
    input: lines(0, 1),
    cwd: folder,
  })
  expect([first.exitCode, first.stdout]).toEqual([0, says(0, 1)])

  const file = join(folder, 'chat.snapshot')
  const second = await runOnsight(['chat', '--resume', file, '--save', file, ...f32], { input: lines(1, 2) })
  expect([second.exitCode, second.stdout]).toEqual([0, says(1, 2)])
  expect(second.stderr).toContain('The conversation goes on after 1 question.\n')

  // Another precision is another model: the text and the picture's path are enough for the same answers.
  const third = await runOnsight(['chat', '--resume', file, '--precision', 'q8', '--json'], {
    input: lines(2),
  })
  expect(third.exitCode).toBe(0)
  expect(third.stderr).toContain('it has another precision (f32, not q8)')
  expect(third.stderr).toContain(
    'What was said is there (2 questions) and is computed again with the next message.\n',
  )
  const { usage } = JSON.parse(third.stdout.split('\n')[0] as string)
  expect([usage.imageTokens, usage.cachedTokens]).toEqual([64, 0])

  // Cut off, and the picture is gone.
  truncateSync(file, 5000)
  rmSync(join(folder, 'picture.png'))
  const fourth = await runOnsight(['chat', '--resume', file, ...f32, '--json'], { input: lines(2) })
  expect(fourth.exitCode).toBe(0)
  expect(fourth.stderr).toContain('the snapshot is cut off')
  expect(fourth.stderr).toContain(' 1 picture cannot be found again.\n')
  expect(JSON.parse(fourth.stdout.split('\n')[0] as string).usage.imageTokens).toBe(0)

  const other = await runOnsight(['chat', '--resume', goldenPath('tiny-cases/cases.jsonl')], {
    input: 'Hi\n',
  })
  expect([other.exitCode, other.stdout]).toEqual([1, ''])
  expect(other.stderr).toContain('expected a saved conversation, found another kind of file.')
})
