/** What a budget of tokens for a picture means: how many frames, and how far the features of one are pooled. */

export interface ImageBudget {
  /** Most frames of a picture. */
  readonly maxFrames: number
  /** Side of the squares of features that become one by their mean; 1 leaves features as they are. */
  readonly pool: number
}

/**
 * Whole frames as long as one fits into `imageTokens`; below that, one frame whose grid of features is pooled by the
 * smallest divisor that fits: 576 tokens become 144, 64, 36, …, 1.
 * @param imageTokens At least 1; undefined is no limit.
 */
export function planImageTokens(imageTokens: number | undefined, tokensPerFrame: number): ImageBudget {
  if (imageTokens === undefined) return { maxFrames: Number.POSITIVE_INFINITY, pool: 1 }
  if (imageTokens >= tokensPerFrame) return { maxFrames: Math.floor(imageTokens / tokensPerFrame), pool: 1 }
  const side = Math.sqrt(tokensPerFrame)
  let pool = 2
  while (side % pool !== 0 || (side / pool) ** 2 > imageTokens) pool++
  return { maxFrames: 1, pool }
}
