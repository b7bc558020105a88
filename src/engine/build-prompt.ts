/** From messages to token ids, with the places of the pictures. */
import type { ImageSpan, Prompt } from '../generation/token-session.ts'
import { EngineError } from '../shared/errors.ts'
import { type ChatMessage, mapMessageTexts } from '../text/chat-template/chat-message.ts'
import { GrowthMemo } from '../text/growth-memo.ts'
import { expandImages, IMAGE_PLACEHOLDER } from '../text/image-prompt.ts'
import { createNeutralizer } from '../text/neutralize.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { LoadedModel } from './loaded-model.ts'
import type { Picture } from './picture.ts'
import type { EncodedTurn } from './turn.ts'

/** What was written and encoded of a conversation, for when it is longer. */
export class PromptMemo {
  readonly pieces = new GrowthMemo<string>()
  readonly sections = new GrowthMemo<readonly number[]>()
}

/**
 * The prompt of a conversation, however long.
 * @param memo Of the same conversation when it was shorter.
 */
export function composeTurns(
  { loaded, isPlain }: { readonly loaded: LoadedModel; readonly isPlain: boolean },
  turns: readonly EncodedTurn[],
  memo?: PromptMemo,
): Prompt {
  const messages = turns.map(({ message }) => message)
  const pictures = turns.flatMap((turn) => turn.pictures)
  return isPlain
    ? composePlainPrompt(loaded, messages, pictures)
    : composeChatPrompt(loaded, messages, pictures, memo)
}

/** A conversation's messages and its pictures in order. Throws `generation/context-full` for one that is too long. */
export function buildChatPrompt(
  loaded: LoadedModel,
  messages: readonly ChatMessage[],
  pictures: readonly Picture[],
): Prompt {
  return requireContext(loaded, composeChatPrompt(loaded, messages, pictures))
}

/**
 * As `buildChatPrompt`, however long.
 * @param memo Of the same conversation when it was shorter.
 */
export function composeChatPrompt(
  loaded: LoadedModel,
  messages: readonly ChatMessage[],
  pictures: readonly Picture[],
  memo?: PromptMemo,
): Prompt {
  const { tokenizer, template, neutralize } = loaded.text
  const rendered = template.render(mapMessageTexts(messages, neutralize), {
    addGenerationPrompt: true,
    pieces: memo?.pieces,
  })
  // As the reference: processors of vision models and GGUF runtimes add what the tokenizer's own rule adds, unless the
  // template wrote it; chat templates of text models stand for themselves.
  const addSpecialTokens =
    !beginsAlready(tokenizer, rendered) &&
    (loaded.model.pictures !== undefined || loaded.preprocessor !== undefined)
  return placePictures(loaded, rendered, pictures, addSpecialTokens, memo?.sections)
}

/**
 * The texts of messages one after the other, control tokens included, begun as the tokenizer begins texts. However long
 * they are.
 */
function composePlainPrompt(
  loaded: LoadedModel,
  messages: readonly ChatMessage[],
  pictures: readonly Picture[],
): Prompt {
  // What looks like the place of a picture is text, except where a picture is.
  const neutralize = createNeutralizer([IMAGE_PLACEHOLDER])
  const text = messages
    .flatMap(({ content }) => content)
    .map((part) => (part.type === 'image' ? IMAGE_PLACEHOLDER : neutralize(part.text)))
    .join('')
  return placePictures(loaded, text, pictures, !beginsAlready(loaded.text.tokenizer, text))
}

function beginsAlready({ bosToken }: Tokenizer, text: string): boolean {
  return bosToken !== undefined && text.startsWith(bosToken)
}

/** Raw text, control tokens included, with `<image>` where a picture goes. */
export function buildRawPrompt(loaded: LoadedModel, text: string, pictures: readonly Picture[]): Prompt {
  const places = text.split(IMAGE_PLACEHOLDER).length - 1
  // To a text model the placeholder is text like any other.
  if (places !== pictures.length && loaded.model.pictures !== undefined) {
    throw new EngineError('option/prompt', {
      message: `The prompt has ${IMAGE_PLACEHOLDER} ${places} times, expected one for each picture, of which there are ${pictures.length}.`,
      hint: `Write ${IMAGE_PLACEHOLDER} where the picture goes, and give that picture.`,
    })
  }
  return requireContext(loaded, placePictures(loaded, text, pictures, false))
}

function placePictures(
  loaded: LoadedModel,
  text: string,
  pictures: readonly Picture[],
  addSpecialTokens: boolean,
  sections?: PromptMemo['sections'],
): Prompt {
  const { tokenizer } = loaded.text
  const imageToken = tokenizer.tokenToId(IMAGE_PLACEHOLDER)
  const options = { neutralized: true, addSpecialTokens, sections }
  if (pictures.length === 0) return { ids: tokenizer.encode(text, options), images: [] }
  if (imageToken === undefined) return joinAroundPictures(loaded, text, pictures, addSpecialTokens)
  const expanded = expandImages(
    text,
    pictures.map(({ expansion }) => expansion),
  )
  const ids = tokenizer.encode(expanded, options)
  return { ids, images: findSpans(loaded, ids, imageToken, pictures) }
}

/** Finds each picture's runs of image tokens: one a frame, apart by markers, or one for the whole picture. */
function findSpans(
  { model }: LoadedModel,
  ids: readonly number[],
  imageToken: number,
  pictures: readonly Picture[],
): ImageSpan[] {
  const rowBytes = model.config.decoder.dim * 4
  const places: number[] = []
  for (const [index, id] of ids.entries()) if (id === imageToken) places.push(index)
  const expected = pictures.reduce((sum, { tokens }) => sum + tokens, 0)
  if (places.length !== expected) {
    throw new EngineError('model/image-token-count', {
      message: `The prompt has ${places.length} image tokens, but the pictures have ${expected} rows of features.`,
      hint: `The tokenizer may not know "${IMAGE_PLACEHOLDER}" as a token of its own; fetch the tokenizer files again.`,
    })
  }
  const spans: ImageSpan[] = []
  let next = 0
  for (const { tokens, features } of pictures) {
    for (let row = 0; row < tokens; ) {
      const at = places[next] as number
      let rows = 1
      while (row + rows < tokens && places[next + rows] === at + rows) rows++
      spans.push({ at, rows, features: features.at(row * rowBytes) })
      row += rows
      next += rows
    }
  }
  return spans
}

/** Vocabularies without an image token (LLaVA in GGUF): the text is encoded around the pictures. */
function joinAroundPictures(
  { text: { tokenizer }, model }: LoadedModel,
  text: string,
  pictures: readonly Picture[],
  addSpecialTokens: boolean,
): Prompt {
  const pieces = text.split(IMAGE_PLACEHOLDER)
  if (pieces.length !== pictures.length + 1 || model.config.projector?.kind !== 'mlp') {
    throw new EngineError('model/image-token-missing', {
      message: `The tokenizer has no token "${IMAGE_PLACEHOLDER}", which this kind of model needs.`,
      hint: 'The tokenizer belongs to a text model; use the files of the vision model.',
    })
  }
  const ids: number[] = []
  const images: ImageSpan[] = []
  for (const [index, piece] of pieces.entries()) {
    ids.push(
      ...tokenizer.encode(piece, { neutralized: true, addSpecialTokens: addSpecialTokens && index === 0 }),
    )
    const picture = pictures[index]
    if (!picture) continue
    images.push({ at: ids.length, rows: picture.tokens, features: picture.features })
    for (let row = 0; row < picture.tokens; row++) ids.push(0) // replaced by the picture's rows
  }
  return { ids, images }
}

/** Throws `text/empty-prompt`, and `generation/context-full` when there is no room for an answer. */
export function requireContext({ contextLength, name }: LoadedModel, prompt: Prompt): Prompt {
  const { length } = prompt.ids
  if (length === 0) {
    throw new EngineError('text/empty-prompt', { message: 'The prompt has no tokens.', hint: 'Give a text.' })
  }
  if (length < contextLength) return prompt
  const images = prompt.images.reduce((sum, { rows }) => sum + rows, 0)
  throw new EngineError('generation/context-full', {
    message: `The prompt has ${length} tokens (${images} of pictures), but ${name} holds ${contextLength} with the answer.`,
    hint:
      images > 0
        ? 'Look less closely (--detail low), use fewer pictures, or start a new conversation.'
        : 'Shorten the text, or start a new conversation.',
  })
}
