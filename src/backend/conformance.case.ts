/**
 * The suite that every backend passes: each row of `OPS` on each type of matrix, held against the scalar reference
 * element by element, and the behaviour that `Backend` promises.
 *
 * @example
 * // wasm-backend.test.ts
 * runConformance('wasm, 2 threads', () => createWasmBackend({ threads: 2 }))
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backend } from './backend.ts'
import { attentionCases } from './conformance/attention-cases.case.ts'
import { describeDifference } from './conformance/compare.case.ts'
import { matmulCases } from './conformance/matmul-cases.case.ts'
import { matrixCases } from './conformance/matrix-cases.case.ts'
import { MEMORY_CASES } from './conformance/memory-cases.case.ts'
import type { ConformanceCase } from './conformance/op-case.case.ts'
import { ORDER_CASES } from './conformance/order-cases.case.ts'
import { ROW_BITS_CASES } from './conformance/row-bits-cases.case.ts'
import { rowCases } from './conformance/row-cases.case.ts'
import { soundCases } from './conformance/sound-cases.case.ts'
import { OPS, type OpName } from './ops.ts'
import { createReferenceBackend } from './reference/reference-backend.ts'

export interface ConformanceOptions {
  /** Operations that the backend does not have, each with the reason. */
  readonly skip?: Partial<Record<OpName, string>>
}

/** Fewer cases than this mean that the suite itself has lost some. */
const MINIMUM_CASES = 1050

/** Cases that ran, by the backend's name. */
export const conformanceCounts = new Map<string, number>()

export function runConformance(
  name: string,
  createBackend: () => Promise<Backend>,
  { skip = {} }: ConformanceOptions = {},
): void {
  const behaviours = [...ORDER_CASES, ...MEMORY_CASES, ...ROW_BITS_CASES]
  const cases = [...matrixCases(), ...matmulCases(), ...rowCases(), ...soundCases(), ...attentionCases()]
  const skipped = cases.filter(({ op }) => skip[op] !== undefined).length
  const expectedRuns = cases.length - skipped + behaviours.length
  conformanceCounts.set(name, 0)
  const count = (): void => {
    conformanceCounts.set(name, (conformanceCounts.get(name) ?? 0) + 1)
  }

  describe(`conformance of ${name}`, () => {
    describe('operations', () => {
      let backend: Backend
      let reference: Backend
      let startBytes = 0

      beforeAll(async () => {
        backend = await createBackend()
        reference = createReferenceBackend()
        startBytes = backend.allocatedBytes
      })
      afterAll(async () => {
        await backend.dispose()
        await reference.dispose()
      })

      for (const op of Object.keys(OPS) as OpName[]) {
        const own = cases.filter((candidate) => candidate.op === op)
        describe(op, () => {
          for (const each of own) registerCase(each, skip[op], () => ({ backend, reference }), count)
        })
        test(`${op} has cases`, () => expect(own.length).toBeGreaterThanOrEqual(5))
      }

      test('all buffers of the cases are free again', () => {
        expect(backend.allocatedBytes).toBe(startBytes)
      })
    })

    describe('behaviour', () => {
      for (const { title, run } of behaviours) {
        test(title, async () => {
          count()
          const backend = await createBackend()
          try {
            await run(backend)
          } finally {
            await backend.dispose()
          }
        })
      }
    })

    test(`${expectedRuns} cases ran, ${skipped} were skipped`, () => {
      expect(conformanceCounts.get(name)).toBe(expectedRuns)
      expect(expectedRuns + skipped).toBeGreaterThanOrEqual(MINIMUM_CASES)
    })
  })
}

function registerCase(
  { op, title, format, tolerance, prepare }: ConformanceCase,
  skipReason: string | undefined,
  backends: () => { readonly backend: Backend; readonly reference: Backend },
  count: () => void,
): void {
  const allowed = tolerance === 0 ? 'identical bits' : `within ${tolerance} of the largest`
  if (skipReason !== undefined) {
    test.skip(`${title} (skipped: ${skipReason})`, () => undefined)
    return
  }
  test(`${title}: ${allowed}`, async () => {
    count()
    const run = prepare()
    const { backend, reference } = backends()
    const expected = await run(reference)
    const found = await run(backend)
    const difference = describeDifference(expected, found, format, tolerance)
    if (difference !== undefined) expect.fail(`${title}\n${op}: ${difference}`)
  })
}
