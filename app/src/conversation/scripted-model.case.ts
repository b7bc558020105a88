/** A model that says what a test tells it to, and notes what it was asked. */
import type { ChatEvent, ChatOptions, GenerationOptions, ModelInfo, UserMessage } from 'onsight'
import type { EngineChat } from '../engine/engine.ts'

export interface AskedQuestion {
  /** Number of the chat, from 1. */
  readonly chat: number
  /** Turns that the chat began with. */
  readonly messages: ChatOptions['messages']
  readonly act: 'send' | 'regenerate'
  readonly message: UserMessage | undefined
  readonly options: GenerationOptions
}

/** Throws what is no string. */
export type Script = (string | Error | (() => Promise<void>))[]

export class ScriptedModel {
  readonly asked: AskedQuestion[] = []
  readonly disposed: number[] = []
  readonly scripts: Script[]
  readonly info: ModelInfo
  #chats = 0

  constructor(scripts: Script[], name = 'scripted') {
    this.scripts = scripts
    this.info = {
      name,
      architecture: 'idefics3',
      takesImages: true,
      imageTokensPerTile: 64,
      contextLength: 2048,
      precision: 'q8',
      kv: 'f16',
      backend: 'wasm-relaxed',
      threads: 1,
      fileBytes: 19e6,
      allocatedBytes: 0,
      loadMs: 1,
      warnings: [],
    }
  }

  chat = ({ messages = [] }: ChatOptions = {}): EngineChat => {
    const chat = ++this.#chats
    const answer = (
      act: AskedQuestion['act'],
      message: UserMessage | undefined,
      options: GenerationOptions = {},
    ): AsyncIterableIterator<ChatEvent> => {
      this.asked.push({ chat, messages, act, message, options })
      return play(this.scripts.shift() ?? ['Yes.'], options.signal)
    }
    return {
      turns: [],
      send: (message, options) => answer('send', message, options),
      edit: () => Promise.reject(new Error('not used')) as never,
      regenerate: (options) => answer('regenerate', undefined, options),
      cutAnswer() {},
      dispose: () => {
        this.disposed.push(chat)
      },
    }
  }

  async warmUp(): Promise<void> {}
  async dispose(): Promise<void> {}
}

async function* play(script: Script, signal: AbortSignal | undefined): AsyncGenerator<ChatEvent> {
  let text = ''
  for (const step of script) {
    if (signal?.aborted) break
    if (step instanceof Error) throw step
    if (typeof step === 'string') {
      text += step
      yield { type: 'text-delta', text: step }
    } else await step()
  }
  yield {
    type: 'answer-finished',
    text,
    tokenIds: [],
    finishReason: signal?.aborted ? 'aborted' : 'stop',
    usage: { promptTokens: 80, imageTokens: 64, cachedTokens: 0, completionTokens: 4 },
    timings: { imageEncodeMs: 12, prefillMs: 3, firstTokenMs: 15, tokensPerSecond: 90 },
    images: [],
  }
}
