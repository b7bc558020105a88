/** From results of single questions to the numbers of a table. */
import { bootstrapInterval, type Interval } from './bootstrap.ts'
import type { QuestionResult } from './result-log.ts'

export interface VariantSummary {
  readonly name: string
  /** Of its files. */
  readonly byteLength: number
  /** Of the baseline's size. */
  readonly sizeRatio: number
  readonly questions: number
  /** Shares of questions, as the next two. */
  readonly exact: number
  readonly normalized: number
  readonly anls: number
  /** Mean KL divergence from full precision per token of the right answers, in nats. */
  readonly meanKl: number
  /** Share of these tokens for which both hold the same token for the likeliest. */
  readonly sameTop: number
  /** Exact match lost against the baseline, in points; undefined for the baseline itself. */
  readonly loss?: { readonly points: number } & Interval
}

export interface VariantResults {
  readonly name: string
  readonly byteLength: number
  /** In the set's order, the same for all variants. */
  readonly results: readonly QuestionResult[]
}

/** @param baseline The variant that others are compared with. */
export function summarize(variants: readonly VariantResults[], baseline: VariantResults): VariantSummary[] {
  return variants.map((variant) => {
    const { name, byteLength, results } = variant
    const mean = (value: (result: QuestionResult) => number): number =>
      results.reduce((sum, result) => sum + value(result), 0) / results.length
    const positions = results.reduce((sum, result) => sum + result.positions, 0)
    return {
      name,
      byteLength,
      sizeRatio: byteLength / baseline.byteLength,
      questions: results.length,
      exact: mean(({ exact }) => exact),
      normalized: mean(({ normalized }) => normalized),
      anls: mean(({ anls }) => anls),
      meanKl: results.reduce((sum, { klSum }) => sum + klSum, 0) / positions,
      sameTop: results.reduce((sum, { sameTop }) => sum + sameTop, 0) / positions,
      ...(variant !== baseline && { loss: lossAgainst(baseline, results) }),
    }
  })
}

function lossAgainst(
  baseline: VariantResults,
  results: readonly QuestionResult[],
): { points: number } & Interval {
  const lost = results.map(({ exact }, index) => 100 * ((baseline.results[index]?.exact ?? 0) - exact))
  const interval = bootstrapInterval(
    lost,
    results.map(({ item }) => item),
  )
  return { points: lost.reduce((sum, value) => sum + value, 0) / lost.length, ...interval }
}
