/** A turn as --json prints it. Field names are a contract, see docs/cli.md. */
import type { AnswerFinished, ChatEvent, ImageReport } from '../engine/types.ts'

export type ContextTrimmed = Extract<ChatEvent, { type: 'context-trimmed' }>

/**
 * What --json prints for an answer. `images` only when there were several, `choices` where the answer was one of a few,
 * `answeredBy` where there was a route, `trimmed` when something was.
 */
export function describeTurn(
  answer: AnswerFinished,
  loadMs: number,
  trimmed: readonly ContextTrimmed[] = [],
): Record<string, unknown> {
  const { promptTokens, imageTokens, cachedTokens, completionTokens } = answer.usage
  const { draftedTokens, acceptedTokens } = answer.usage
  const { imageEncodeMs, prefillMs, firstTokenMs, tokensPerSecond } = answer.timings
  const images = answer.images.map(describeImage)
  return {
    text: answer.text,
    tokenIds: answer.tokenIds,
    finishReason: answer.finishReason,
    usage: {
      ...{ promptTokens, imageTokens, cachedTokens, completionTokens },
      ...(draftedTokens !== undefined && { draftedTokens, acceptedTokens }),
    },
    timings: {
      loadMs: round(loadMs),
      imageEncodeMs: round(imageEncodeMs),
      prefillMs: round(prefillMs),
      firstTokenMs: round(firstTokenMs),
      tokensPerSecond: round(tokensPerSecond),
    },
    image: images[0] ?? null,
    ...(images.length > 1 && { images }),
    ...(answer.choices && { choices: answer.choices }),
    ...(answer.answeredBy && { answeredBy: answer.answeredBy }),
    ...(trimmed.length > 0 && { trimmed: trimmed.map(describeTrimmed) }),
  }
}

function describeTrimmed({ droppedTurns, droppedImages, summary }: ContextTrimmed): Record<string, unknown> {
  return { droppedTurns, droppedImages, ...(summary !== undefined && { summary }) }
}

function describeImage(report: ImageReport): Record<string, number | boolean> {
  const { width, height, usedWidth, usedHeight, tiles, orientation, cached } = report
  return { width, height, usedWidth, usedHeight, tiles, orientation, cached }
}

/** Hundredths: more digits are noise. */
function round(value: number): number {
  return Math.round(value * 100) / 100
}
