/**
 * What can be done before the first question: everything is run once, so that weights are in memory and kernels are
 * compiled, and what conversations will begin with is computed and kept for them to copy.
 */
import type { PassLine } from '../generation/pass-queue.ts'
import type { Prompt, TokenSession } from '../generation/token-session.ts'
import { createAbortError } from '../shared/abort.ts'
import { composeTurns, requireContext } from './build-prompt.ts'
import { userTurn } from './chat-turn.ts'
import {
  checkOptions,
  FLAG_RULE,
  FUNCTION_RULE,
  type OptionRules,
  SIGNAL_RULE,
  TEXT_RULE,
} from './check-options.ts'
import { Conversation } from './conversation.ts'
import { encodeTurns, releasePictures } from './encode-turns.ts'
import { DETAIL_RULE, IMAGE_TOKENS_RULE } from './generation-options.ts'
import { createSession, type LoadedModel } from './loaded-model.ts'
import { finishPicture, type Picture, preparePicture } from './picture.ts'
import { type EncodedTurn, questionTurn, textOnlyTurn } from './turn.ts'
import type { WarmUpOptions } from './types.ts'

/** Beginnings kept at a time; each takes the memory of its tokens. */
const MAX_BEGINNINGS = 4
/** Tokens of an answer after which engines have compiled the kernels for good; longer ones were no faster. */
const REHEARSED_TOKENS = 24
/** Three questions that begin with tokens of different kinds: what their prompts share is what all begin with. */
const PROBES = ['Hello', '1', '你好']
/** A small tower's frame is too short for engines to see what is worth compiling well. */
const REHEARSED_FRAMES = 4
const ENOUGH_REHEARSED_MS = 200
/** A picture file (PNG) of one white pixel, so that the decoder is loaded too. */
const PIXEL_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC'

const RULES = {
  system: TEXT_RULE,
  template: FLAG_RULE,
  images: { accepts: Array.isArray, says: 'a list of pictures' },
  detail: DETAIL_RULE,
  imageTokens: IMAGE_TOKENS_RULE,
  onProgress: FUNCTION_RULE,
  signal: SIGNAL_RULE,
} satisfies OptionRules

interface Beginning {
  readonly session: TokenSession
  readonly pictures: Picture[]
}

export class WarmUp {
  readonly #loaded: LoadedModel
  /** The oldest first. */
  readonly #beginnings: Beginning[] = []
  #isRehearsed = false

  constructor(loaded: LoadedModel) {
    this.#loaded = loaded
  }

  /** What a question needs most comes first, for those who ask before it is done. */
  async run(options: WarmUpOptions): Promise<void> {
    checkOptions(options, RULES, 'for warming up')
    const { template = true, images = [], signal } = options
    const isRehearsed = this.#isRehearsed
    if (!isRehearsed && images.length === 0) await rehearsePicture(this.#loaded, signal)
    if (template) await this.#begin(options)
    if (!isRehearsed) await rehearseAnswer(this.#loaded, signal)
    this.#isRehearsed = true
  }

  async #begin(options: WarmUpOptions): Promise<void> {
    const beginning: Beginning = { session: createSession(this.#loaded), pictures: [] }
    try {
      const { session, pictures } = beginning
      const prompt = sharedBeginning(await composeProbes(this.#loaded, session.line, options, pictures))
      if (prompt.ids.length > 0) {
        for await (const progress of session.prefill(prompt, options.signal))
          options.onProgress?.({ type: 'prompt-progressed', ...progress })
      }
    } catch (error) {
      this.#forget(beginning)
      throw error
    }
    const same = this.#beginnings.findIndex(({ session }) => holdsSame(session, beginning.session))
    if (same >= 0) this.#forget(this.#beginnings.splice(same, 1)[0] as Beginning)
    this.#beginnings.push(beginning)
    if (this.#beginnings.length > MAX_BEGINNINGS) this.#forget(this.#beginnings.shift() as Beginning)
  }

  #forget({ session, pictures }: Beginning): void {
    session.dispose()
    releasePictures(this.#loaded, pictures)
  }
}

function holdsSame({ contents: one }: TokenSession, { contents: other }: TokenSession): boolean {
  return (
    one.ids.length === other.ids.length &&
    one.ids.every((id, index) => id === other.ids[index]) &&
    one.images.every(({ features }, index) => features.buffer === other.images[index]?.features.buffer)
  )
}

/** Loads the picture decoder and runs the vision tower. */
async function rehearsePicture(loaded: LoadedModel, signal: AbortSignal | undefined): Promise<void> {
  if (!loaded.model.pictures) return
  const pixel = Uint8Array.from(atob(PIXEL_BASE64), (character) => character.charCodeAt(0))
  const prepared = await preparePicture(loaded, pixel, { detail: 'low' }, signal)
  const start = performance.now()
  for (let frame = 0; frame < REHEARSED_FRAMES; frame++) {
    const { features } = await finishPicture(loaded, prepared, signal)
    loaded.backend.free(features)
    if (performance.now() - start > ENOUGH_REHEARSED_MS) return
  }
}

async function rehearseAnswer(loaded: LoadedModel, signal: AbortSignal | undefined): Promise<void> {
  const chat = new Conversation(loaded, {}, () => {})
  const options = { maxTokens: REHEARSED_TOKENS, ignoreEos: true, ...(signal && { signal }) }
  try {
    for await (const event of chat.send({ text: PROBES.join(' ') }, options))
      if (event.type === 'answer-finished' && event.finishReason === 'aborted') throw createAbortError()
  } finally {
    chat.dispose()
  }
}

/** Conversations that differ in their question only. Their pictures become `fresh`, the caller's to release. */
async function composeProbes(
  loaded: LoadedModel,
  line: PassLine,
  { system, images = [], detail, imageTokens, onProgress, signal }: WarmUpOptions,
  fresh: Picture[],
): Promise<Prompt[]> {
  const question = questionTurn(
    { text: '', images },
    { ...(detail && { detail }), ...(imageTokens !== undefined && { imageTokens }) },
  )
  const steps = encodeTurns(loaded, line, [question], signal, fresh)
  let step = await steps.next()
  for (; !step.done; step = await steps.next()) onProgress?.(step.value)
  const [{ pictures }] = step.value as [EncodedTurn]
  const leading = system ? [textOnlyTurn('system', system)] : []
  return PROBES.map((text) => {
    const message = userTurn({ text, imageCount: pictures.length })
    const turns = [...leading, { message, pictures }]
    return requireContext(loaded, composeTurns({ loaded, isPlain: false }, turns))
  })
}

function sharedBeginning([first, ...others]: readonly Prompt[]): Prompt {
  const { ids, images } = first as Prompt
  let length = 0
  while (length < ids.length && others.every((other) => other.ids[length] === ids[length])) length++
  return { ids: ids.slice(0, length), images: images.filter(({ at }) => at < length) }
}
