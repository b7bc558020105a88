/**
 * A model in float32 on which quantisation is tried out: it collects what its matrices are multiplied with, takes other
 * weights in place of its own, and tells how far its answers have moved.
 */
import type { Backend, BufferRef } from '../backend/backend.ts'
import { argmax } from '../generation/sampler.ts'
import { type Prompt, TokenSession } from '../generation/token-session.ts'
import type { Matrix } from '../models/blocks/matrix.ts'
import { encodeBlocks } from '../quant/encode.ts'
import type { InputStatistics } from '../quant/encode-searched.ts'
import { byteLengthOf } from '../quant/tensor-types.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { ChatMessage } from '../text/chat-template/chat-message.ts'
import { type AssembleOptions, assembleModel, type PreparedModel } from './assemble-model.ts'
import { buildChatPrompt } from './build-prompt.ts'
import { addDivergence, type Divergence, measureDivergence, NO_DIVERGENCE } from './divergence.ts'
import { forceAnswer } from './forced-answer.ts'
import type { LoadedModel } from './loaded-model.ts'
import { ObservingBackend } from './observing-backend.ts'
import { finishPicture, type Picture, type PreparedPicture, preparePicture } from './picture.ts'
import type { SetItem } from './question-set.ts'

/** Rows written to the device at a time; a multiple of the packed layout's panels of 8. */
const PIECE_ROWS = 256

/** Every fourth lesson judges, the others teach; with fewer than eight all do both. */
const HELD_OUT_EVERY = 4
const LEAST_TO_HOLD_OUT = 8

/** A turn of an item with everything that does not depend on weights. */
interface Lesson {
  readonly pictures: readonly PreparedPicture[]
  readonly messages: readonly ChatMessage[]
  /** Undefined until the model has given its own, where the set has none. */
  answer: readonly number[] | undefined
  /** What the unchanged model expects; made when first needed. */
  expected: Float32Array | undefined
}

export interface FullPrecisionOptions extends Pick<AssembleOptions, 'onProgress' | 'signal'> {
  /** Turns a picture's name in the set into what is opened. */
  readonly resolvePicture: (name: string) => string
  readonly signal?: AbortSignal
}

export class FullPrecisionModel {
  readonly #loaded: LoadedModel
  readonly #observer: ObservingBackend
  readonly #matrices: ReadonlyMap<string, Matrix>
  #lessons: Lesson[] = []

  private constructor(
    loaded: LoadedModel,
    observer: ObservingBackend,
    matrices: ReadonlyMap<string, Matrix>,
  ) {
    this.#loaded = loaded
    this.#observer = observer
    this.#matrices = matrices
  }

  /** The model takes over `backend` and disposes of it, also when this fails. */
  static async create(
    prepared: PreparedModel,
    backend: Backend,
    host: Parameters<typeof assembleModel>[2],
    items: readonly SetItem[],
    options: FullPrecisionOptions,
  ): Promise<FullPrecisionModel> {
    const matrices = new Map<string, Matrix>()
    const names = new Map<BufferRef['buffer'], string>()
    const observer = new ObservingBackend(backend, ({ buffer }) => names.get(buffer))
    try {
      const { resolvePicture, ...loading } = options
      const loaded = await assembleModel(prepared, observer, host, {
        ...loading,
        precision: 'f32',
        onMatrix(name, matrix) {
          matrices.set(name, matrix)
          names.set(matrix.data, name)
        },
      })
      const model = new FullPrecisionModel(loaded, observer, matrices)
      for (const item of items) await model.#addLessons(item, resolvePicture, options.signal)
      return model
    } catch (error) {
      await observer.dispose()
      throw error
    }
  }

  /** Turns of all items. */
  get lessonCount(): number {
    return this.#lessons.length
  }

  /** Whether a lesson is kept from `observe` for `measure`, so that what was fitted to is not what is judged by. */
  #isHeldOut(index: number): boolean {
    return this.#lessons.length >= LEAST_TO_HOLD_OUT && index % HELD_OUT_EVERY === HELD_OUT_EVERY - 1
  }

  /**
   * Answers every lesson once and looks at the inputs of all matrices, but for those held out. What the model expects is
   * kept for `measure`.
   */
  async observe(onLesson?: (done: number) => void, signal?: AbortSignal): Promise<void> {
    try {
      for (const [index, lesson] of this.#lessons.entries()) {
        this.#observer.isObserving = !this.#isHeldOut(index)
        lesson.expected = await this.#answer(lesson, signal)
        onLesson?.(index + 1)
      }
    } finally {
      this.#observer.isObserving = false
    }
  }

  /** What `observe` has seen of a matrix's inputs; to be asked for when it has ended. */
  statisticsOf(matrix: string): InputStatistics | undefined {
    return this.#observer.statisticsOf(matrix)
  }

  /** How far the weights now on the device move the answers of lessons held out; of all where there are few. */
  async measure(signal?: AbortSignal): Promise<Divergence> {
    let sum = NO_DIVERGENCE
    const holdsOut = this.#isHeldOut(HELD_OUT_EVERY - 1)
    for (const [index, lesson] of this.#lessons.entries()) {
      const { expected } = lesson
      if (expected === undefined || (holdsOut && !this.#isHeldOut(index))) continue
      const found = await this.#answer(lesson, signal)
      sum = addDivergence(
        sum,
        measureDivergence(expected, found, this.#loaded.model.config.decoder.vocabSize),
      )
    }
    return sum
  }

  /** Puts `values`, (rows, columns), in place of a matrix's weights. */
  async exchange(name: string, values: Float32Array): Promise<void> {
    const matrix = this.#matrices.get(name)
    if (matrix === undefined) return
    const { backend } = this.#loaded
    const { type, rows, columns, data } = matrix
    const stage = backend.alloc(byteLengthOf(type, Math.min(rows, PIECE_ROWS) * columns))
    try {
      for (let firstRow = 0; firstRow < rows; firstRow += PIECE_ROWS) {
        const count = Math.min(PIECE_ROWS, rows - firstRow)
        const piece = values.subarray(firstRow * columns, (firstRow + count) * columns)
        backend.write(stage, encodeBlocks(type, piece))
        backend.enqueue('packRows', { type, source: stage, matrix: data, rows: count, columns, firstRow })
      }
      await backend.flush()
    } finally {
      backend.free(stage)
    }
  }

  async dispose(): Promise<void> {
    this.#lessons = []
    await this.#observer.dispose()
  }

  /** Each turn becomes a lesson. */
  async #addLessons(
    item: SetItem,
    resolvePicture: (name: string) => string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const pictures: PreparedPicture[] = []
    for (const name of item.pictures) {
      pictures.push(await preparePicture(this.#loaded, resolvePicture(name), { detail: 'auto' }, signal))
    }
    for (const { messages, answer } of setDialogues(item)) {
      this.#lessons.push({
        pictures,
        messages,
        answer: answer === undefined ? undefined : encodeAnswer(this.#loaded, messages, answer),
        expected: undefined,
      })
    }
  }

  async #answer(lesson: Lesson, signal: AbortSignal | undefined): Promise<Float32Array> {
    throwIfAborted(signal)
    const pictures: Picture[] = []
    try {
      for (const prepared of lesson.pictures)
        pictures.push(await finishPicture(this.#loaded, prepared, signal))
      const prompt = buildChatPrompt(this.#loaded, lesson.messages, pictures)
      lesson.answer ??= await this.#speak(prompt, signal)
      return await forceAnswer(this.#loaded, prompt, lesson.answer, signal)
    } finally {
      for (const { features } of pictures) this.#loaded.backend.free(features)
    }
  }

  /** The model's own answer, token by likeliest token. */
  async #speak(prompt: Prompt, signal: AbortSignal | undefined): Promise<number[]> {
    const { model, queue, text } = this.#loaded
    const session = new TokenSession(model, queue)
    const ids: number[] = []
    try {
      const passes = session.prefill(prompt, signal)
      let step = await passes.next()
      while (!step.done) step = await passes.next()
      let id = argmax(step.value)
      ids.push(id)
      while (ids.length < MAX_OWN_TOKENS && !text.stopTokens.has(id)) {
        id = argmax((await session.step(id, [], signal)).logits)
        ids.push(id)
      }
      return ids
    } finally {
      session.dispose()
    }
  }
}

/** Longest answer that the model gives where a set has none. */
const MAX_OWN_TOKENS = 64

export interface Dialogue {
  /** Up to and with the question. */
  readonly messages: readonly ChatMessage[]
  /** The first of the right answers; undefined where the set has none. */
  readonly answer: string | undefined
}

/** The conversation up to each question, earlier turns answered as in the set; nothing after a turn without an answer. */
export function setDialogues(item: SetItem): Dialogue[] {
  const dialogues: Dialogue[] = []
  const messages: ChatMessage[] = []
  for (const [index, { ask, answers }] of item.turns.entries()) {
    const pictures = index === 0 ? item.pictures.map(() => ({ type: 'image' as const })) : []
    messages.push({ role: 'user', content: [...pictures, { type: 'text', text: ask }] })
    const [answer] = answers
    dialogues.push({ messages: [...messages], answer })
    if (answer === undefined) break
    messages.push({ role: 'assistant', content: [{ type: 'text', text: answer }] })
  }
  return dialogues
}

/**
 * The tokens of an answer with the one that ends it, as the chat template puts them behind the prompt: what follows the
 * prompt where the answer is rendered as a turn of the conversation. Templates that render turns in another way get the
 * bare answer and the first stop token.
 */
export function encodeAnswer(
  { text }: LoadedModel,
  messages: readonly ChatMessage[],
  answer: string,
): readonly number[] {
  const { tokenizer, template, stopTokens } = text
  const prompt = template.render(messages, { addGenerationPrompt: true })
  const turn: ChatMessage = { role: 'assistant', content: [{ type: 'text', text: answer }] }
  const whole = template.render([...messages, turn], { addGenerationPrompt: false })
  if (whole.startsWith(prompt)) {
    const ids = tokenizer.encode(whole.slice(prompt.length))
    const end = ids.findIndex((id) => stopTokens.has(id))
    if (end > 0) return ids.slice(0, end + 1)
  }
  return [...tokenizer.encode(answer), ...[...stopTokens].slice(0, 1)]
}
