/** A turn as --json prints it. Field names are a contract, see docs/cli.md. */
import type { AnswerFinished, ImageReport } from '../engine/types.ts'

/** What --json prints for an answer. `images` only when there were several. */
export function describeTurn(answer: AnswerFinished, loadMs: number): Record<string, unknown> {
  const { promptTokens, imageTokens, completionTokens } = answer.usage
  const { imageEncodeMs, prefillMs, firstTokenMs, tokensPerSecond } = answer.timings
  const images = answer.images.map(describeImage)
  return {
    text: answer.text,
    tokenIds: answer.tokenIds,
    finishReason: answer.finishReason,
    usage: { promptTokens, imageTokens, completionTokens },
    timings: {
      loadMs: round(loadMs),
      imageEncodeMs: round(imageEncodeMs),
      prefillMs: round(prefillMs),
      firstTokenMs: round(firstTokenMs),
      tokensPerSecond: round(tokensPerSecond),
    },
    image: images[0] ?? null,
    ...(images.length > 1 && { images }),
  }
}

function describeImage(report: ImageReport): Record<string, number> {
  const { width, height, usedWidth, usedHeight, tiles, orientation } = report
  return { width, height, usedWidth, usedHeight, tiles, orientation }
}

/** Hundredths: more digits are noise. */
function round(value: number): number {
  return Math.round(value * 100) / 100
}
