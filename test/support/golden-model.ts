/** The reference models under test/golden/: their files, and what make_golden.py recorded. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readTensors, type TensorValues } from './read-tensors.ts'

/** A run of expected.json. */
export interface GoldenRun {
  readonly name: string
  readonly prompt: string
  /** Absolute path; undefined for raw text prompts. */
  readonly picture: string | undefined
  /** The greedy tokens as text. */
  readonly text: string
  /** Stages by their names without the run's. */
  readonly stages: ReadonlyMap<string, TensorValues>
}

export function goldenPath(path: string): string {
  return fileURLToPath(new URL(`../golden/${path}`, import.meta.url))
}

export function readGoldenRuns(model: string): GoldenRun[] {
  const tensors = readTensors(goldenPath(`${model}/expected.safetensors`))
  const notes = JSON.parse(readFileSync(goldenPath(`${model}/expected.json`), 'utf8')) as Record<
    string,
    { prompt: string; picture?: string; text: string }
  >
  return Object.entries(notes).map(([name, { prompt, picture, text }]) => ({
    name,
    prompt,
    picture: picture && goldenPath(`${model}/${picture}`),
    text,
    stages: new Map(
      [...tensors].flatMap(([key, value]) =>
        key.startsWith(`${name}.`) ? [[key.slice(name.length + 1), value] as const] : [],
      ),
    ),
  }))
}
