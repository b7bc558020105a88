/** What a picture becomes in a prompt: marker tokens and one `<image>` token for each feature vector. */

import { EngineError } from '../shared/errors.ts'

/** Stands for a picture in a rendered chat template, and for one feature vector once expanded. */
export const IMAGE_PLACEHOLDER = '<image>'

const FAKE_TOKEN = '<fake_token_around_image>'
const GLOBAL_TOKEN = '<global-img>'

/**
 * Idefics3 and SmolVLM: each tile with its place, row by row, then the whole picture; without tiles (0 rows, 0
 * columns) the whole picture only. Source: Transformers `processing_idefics3.py`.
 * Where a vocabulary lacks the markers, as SmolVLM-Instruct 2.2B does, they are plain text, as in the reference.
 * @param imageSeqLen feature vectors of one tile
 */
export function expandIdefics3(rows: number, cols: number, imageSeqLen: number): string {
  checkCount('rows', rows, 0)
  checkCount('columns', cols, 0)
  checkCount('image tokens', imageSeqLen, 1)
  if ((rows === 0) !== (cols === 0)) {
    throw new EngineError('text/image-grid', {
      message: `A picture of ${rows} rows and ${cols} columns of tiles: both must be 0 or both more.`,
    })
  }
  const tile = IMAGE_PLACEHOLDER.repeat(imageSeqLen)
  let text = ''
  for (let row = 1; row <= rows; row++) {
    for (let col = 1; col <= cols; col++) text += `${FAKE_TOKEN}<row_${row}_col_${col}>${tile}`
    text += '\n'
  }
  if (rows > 0) text += '\n'
  return `${text}${FAKE_TOKEN}${GLOBAL_TOKEN}${tile}${FAKE_TOKEN}`
}

/** LLaVA: one `<image>` a feature vector, nothing around. */
export function expandLlava(imageTokens: number): string {
  checkCount('image tokens', imageTokens, 1)
  return IMAGE_PLACEHOLDER.repeat(imageTokens)
}

/**
 * Replaces the placeholders of a rendered prompt, in order, one expansion each. Neutralize user text beforehand with
 * the placeholder among the markers. Throws `text/image-count` when the template placed more or fewer images.
 */
export function expandImages(
  prompt: string,
  expansions: readonly string[],
  placeholder = IMAGE_PLACEHOLDER,
): string {
  const pieces = prompt.split(placeholder)
  if (pieces.length - 1 !== expansions.length) {
    throw new EngineError('text/image-count', {
      message: `The chat template placed ${pieces.length - 1} images as ${placeholder}, but the conversation has ${expansions.length}.`,
      hint: 'The template may be of a model that takes no images; give the template of the vision model.',
    })
  }
  return pieces.map((piece, index) => piece + (expansions[index] ?? '')).join('')
}

function checkCount(what: string, count: number, least: number): void {
  if (Number.isInteger(count) && count >= least) return
  throw new EngineError('text/image-grid', {
    message: `The number of ${what} of a picture should be a whole number from ${least}, found ${count}.`,
  })
}
