/** Reports of `onsight bench`, one beside an earlier one. */
import { readFile } from 'node:fs/promises'
import type { BenchReport } from '../entry/bench.node.ts'
import { EngineError } from '../shared/errors.ts'
import { findFile } from './pictures.ts'

/** Now divided by then, by the names of `flatten`. */
export type Ratios = Readonly<Record<string, number>>
type Numbers = Readonly<Record<string, number>>

/** All numbers of a report in one list. */
export function flatten({ numbers, firstWordMs }: Pick<BenchReport, 'numbers' | 'firstWordMs'>): Numbers {
  const words = Object.entries(firstWordMs).map(
    ([name, value]) => [`firstWordMs${name[0]?.toUpperCase()}${name.slice(1)}`, value] as const,
  )
  return { ...Object.fromEntries(words), ...numbers }
}

/** The numbers of a report that was written with `--json`. Throws `option/compare`. */
export async function loadReport(path: string): Promise<Numbers> {
  await findFile(path)
  const text = await readFile(path, 'utf8')
  let report: unknown
  try {
    report = JSON.parse(text)
  } catch (cause) {
    throw new EngineError('option/compare', {
      message: `${path}: expected the JSON of "onsight bench --json"; found ${(cause as Error).message}.`,
      cause,
    })
  }
  const { numbers, firstWordMs = {} } = (report ?? {}) as Record<string, unknown>
  if (!isNumbers(numbers) || !isNumbers(firstWordMs)) {
    throw new EngineError('option/compare', {
      message: `${path}: expected a report with "numbers"; found other JSON.`,
      hint: 'Write one with "onsight bench MODEL --json > FILE".',
    })
  }
  return flatten({ numbers, firstWordMs: firstWordMs as unknown as BenchReport['firstWordMs'] })
}

export function ratiosOf(now: BenchReport, then: Numbers): Ratios {
  const pairs = Object.entries(flatten(now)).flatMap(([name, value]) => {
    const before = then[name]
    return before === undefined || before === 0 ? [] : [[name, value / before] as const]
  })
  return Object.fromEntries(pairs)
}

function isNumbers(value: unknown): value is Numbers {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((number) => typeof number === 'number' && Number.isFinite(number))
  )
}
