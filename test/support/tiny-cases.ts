/** Conversations about pictures with what the reference answers with the bundled model. */
import { readFileSync } from 'node:fs'
import { goldenPath } from './golden-model.ts'

export interface TinyTurn {
  readonly ask: string
  /** The right answer. */
  readonly truth: string
  /** The reference's greedy answer in float32; ids with the stop token. */
  readonly says: string
  readonly tokenIds: readonly number[]
}

export interface TinyCase {
  readonly id: string
  /** Absolute path. */
  readonly picture: string
  readonly turns: readonly TinyTurn[]
}

export function readTinyCases(): TinyCase[] {
  const lines = readFileSync(goldenPath('tiny-cases/cases.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line) => {
    const entry = JSON.parse(line) as TinyCase
    return { ...entry, picture: goldenPath(`tiny-cases/${entry.picture}`) }
  })
}
