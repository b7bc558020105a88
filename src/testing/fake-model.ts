/** A model without weights: says what it is told to say, and keeps what it was asked. */
import type {
  AnswerFinished,
  Chat,
  ChatEvent,
  ChatOptions,
  ChatTurn,
  ConversationTurn,
  GenerationOptions,
  ImageReport,
  Model,
  ScoredAnswerToken,
  SnapshotTarget,
  TokenLogprob,
  UserMessage,
} from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'

/** One answer. */
export interface FakeAnswer {
  /** Words of the answer, a token each. Default: "A " and "fox.". */
  readonly pieces?: readonly string[]
  readonly finishReason?: AnswerFinished['finishReason']
  /** Thrown after the pieces. */
  readonly error?: unknown
  /** Waited for before each piece and before the end. */
  readonly beforePiece?: (index: number) => Promise<void>
  /** Tokens that had to be computed of a prompt of 70. Default all. */
  readonly computedTokens?: number
}

export interface FakeQuestion {
  readonly chat: ChatOptions
  /** Which question of its conversation it is, from 0. */
  readonly turn: number
  readonly message: UserMessage
  readonly options: GenerationOptions
}

export interface FakeModelOptions {
  readonly name?: string
  readonly takesImages?: boolean
  /** Called for each question. Default: the default answer. */
  readonly answer?: (question: FakeQuestion) => FakeAnswer
}

export interface FakeModel extends Model {
  readonly questions: readonly FakeQuestion[]
  /** Conversations that were begun and not closed. */
  readonly openChats: number
}

const PROMPT_TOKENS = 70
const TOKENS_PER_IMAGE = 64
const CHAT_BYTES = 1000
const IMAGE_REPORT: ImageReport = {
  width: 640,
  height: 480,
  usedWidth: 512,
  usedHeight: 384,
  tiles: 4,
  orientation: 1,
  detail: 'high',
  cached: false,
}

/** Reads pictures only so far as to see that they are not empty; refuses empty ones as damaged. */
export function createFakeModel({
  name = 'fake',
  takesImages = true,
  answer = () => ({}),
}: FakeModelOptions = {}): FakeModel {
  const questions: FakeQuestion[] = []
  const open = new Set<Chat>()
  return {
    questions,
    get openChats() {
      return open.size
    },
    get info() {
      return {
        name,
        architecture: 'idefics3',
        takesImages,
        imageTokensPerTile: takesImages ? TOKENS_PER_IMAGE : 0,
        contextLength: 2048,
        precision: 'q8' as const,
        kv: 'f16' as const,
        backend: 'wasm-relaxed',
        threads: 2,
        fileBytes: 100,
        allocatedBytes: 100 + open.size * CHAT_BYTES,
        loadMs: 1,
        warnings: [],
      }
    },
    defaults: {},
    chat(options = {}) {
      let turn = 0
      let turns: ConversationTurn[] = turnsOf(options)
      const ask = (
        kept: readonly ConversationTurn[],
        message: UserMessage,
        generation: GenerationOptions,
      ): AsyncGenerator<ChatEvent, void, undefined> => {
        const question = { chat: options, turn: turn++, message, options: generation }
        questions.push(question)
        return say(question, answer(question), takesImages, (text) => {
          turns = [...kept, describe(message), { role: 'assistant', text, imageCount: 0 }]
        })
      }
      const chat: Chat = {
        get turns() {
          return turns
        },
        send: (message, generation = {}) => ask(turns, message, generation),
        edit: (index, message, generation = {}) => ask(turns.slice(0, index), message, generation),
        regenerate(generation = {}) {
          const last = turns.findLastIndex(({ role }) => role === 'user')
          return ask(turns.slice(0, last), { text: turns[last]?.text ?? '' }, generation)
        },
        cutAnswer(heard) {
          turns =
            heard === ''
              ? turns.slice(0, -2)
              : [...turns.slice(0, -1), { role: 'assistant', text: heard, imageCount: 0 }]
        },
        save: saveTurns,
        dispose: () => void open.delete(chat),
      }
      async function saveTurns(): Promise<Blob>
      async function saveTurns(to: SnapshotTarget): Promise<undefined>
      async function saveTurns(to?: SnapshotTarget): Promise<Blob | undefined> {
        if (to !== undefined) throw notOffered('saves to a Blob only')
        return new Blob([JSON.stringify(turns)])
      }
      open.add(chat)
      return chat
    },
    async restore(from) {
      if (!(from instanceof Blob)) throw notOffered('restores from a Blob only')
      return this.chat({ messages: JSON.parse(await from.text()) as ChatTurn[] })
    },
    embed: async (texts) => texts.map((text) => ({ vector: Float32Array.of(text.length, 0.5), tokens: 3 })),
    warmUp: async () => {},
    trace: async () => [],
    dispose: async () => open.clear(),
  }
}

function notOffered(what: string): EngineError {
  return new EngineError('option/invalid', { message: `The fake model ${what}.` })
}

function turnsOf({ system, messages = [] }: ChatOptions): ConversationTurn[] {
  const head: ConversationTurn[] = system ? [{ role: 'system', text: system, imageCount: 0 }] : []
  return [
    ...head,
    ...messages.map((turn) => (turn.role === 'user' ? describe(turn) : { ...turn, imageCount: 0 })),
  ]
}

function describe({ text, images = [] }: UserMessage): ConversationTurn {
  return { role: 'user', text, imageCount: images.length }
}

async function* say(
  { message: { images = [] }, options: { signal, logprobs } }: FakeQuestion,
  {
    pieces = ['A ', 'fox.'],
    finishReason = 'stop',
    error,
    beforePiece,
    computedTokens = PROMPT_TOKENS,
  }: FakeAnswer,
  takesImages: boolean,
  onEnd: (text: string) => void,
): AsyncGenerator<ChatEvent, void, undefined> {
  if (images.length > 0 && !takesImages) {
    throw new EngineError('model/no-images', { message: 'fake is a text model and takes no pictures.' })
  }
  for (const [image, picture] of images.entries()) {
    if (picture instanceof Blob && picture.size === 0) {
      throw new EngineError('image/damaged', {
        message: `${'name' in picture ? picture.name : ''}: no bytes.`,
      })
    }
    yield { type: 'image-encoded', image, report: IMAGE_REPORT }
  }
  yield { type: 'prompt-progressed', tokens: computedTokens, totalTokens: computedTokens }
  const said: string[] = []
  const scored: ScoredAnswerToken[] = []
  for (const [index, text] of pieces.entries()) {
    await beforePiece?.(index)
    if (signal?.aborted) break
    said.push(text)
    if (logprobs !== undefined) {
      const token = scoreOf(text, index, logprobs)
      scored.push(token)
      yield { type: 'token-scored', token }
    }
    yield { type: 'text-delta', text }
  }
  await beforePiece?.(pieces.length)
  if (error !== undefined) throw error
  onEnd(said.join(''))
  yield {
    type: 'answer-finished',
    text: said.join(''),
    tokenIds: said.map((_, index) => index),
    finishReason: signal?.aborted ? 'aborted' : finishReason,
    usage: {
      promptTokens: PROMPT_TOKENS,
      imageTokens: TOKENS_PER_IMAGE * images.length,
      cachedTokens: PROMPT_TOKENS - computedTokens,
      completionTokens: said.length,
    },
    timings: { imageEncodeMs: 1, prefillMs: 2, firstTokenMs: 3, tokensPerSecond: 40 },
    images: images.map(() => IMAGE_REPORT),
    ...(logprobs !== undefined && { logprobs: scored }),
  }
}

/** Each piece is half as likely as the one before; beside it stand the same piece and others. */
function scoreOf(text: string, index: number, count: number): ScoredAnswerToken {
  const one = (id: number, named: string): TokenLogprob => ({
    id,
    text: named,
    bytes: new TextEncoder().encode(named),
    logprob: -(id + 1) * Math.LN2,
  })
  const top = Array.from({ length: count }, (_, place) =>
    place === 0 ? one(index, text) : one(index + place, `other ${place}`),
  )
  return { ...one(index, text), top }
}
