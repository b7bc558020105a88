/**
 * A recogniser, a vision model and a voice within one budget of memory. They share one backend, so what one gives back the
 * next one takes, and no worker is started anew. A conversation is put aside while its model is away, with all that was
 * computed of it.
 */
import type { Backend } from '../../backend/backend.ts'
import { leaseBackend } from '../../backend/leased-backend.ts'
import { createWasmBackend } from '../../backend/wasm/wasm-backend.ts'
import { type EngineHost, loadModelOn } from '../../engine/load-model.ts'
import type {
  Chat,
  ChatEvent,
  ChatOptions,
  GenerationOptions,
  LoadModelOptions,
  Model,
  UserMessage,
} from '../../engine/types.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../load-recognizer.ts'
import { type LoadVoiceOptions, loadVoiceOn, type VoiceHost } from '../load-voice.ts'
import type {
  AudioClip,
  Recognizer,
  SpeakOptions,
  SpokenPiece,
  TranscribeOptions,
  TranscriptEvent,
  Voice,
} from '../types.ts'
import { type LoadedPart, ModelTurns, type Swap, type TurnPart } from './model-turns.ts'

export type SpeakingPart = 'recognizer' | 'model' | 'voice'

export interface PartReference<Options> {
  /** As for `loadRecognizer`, `loadModel`, `loadVoice`. */
  readonly reference: string
  readonly options?: Options
  /** What it takes, until it was there for the first time. */
  readonly estimatedBytes: number
}

export interface SpeakingModelsOptions {
  readonly recognizer: PartReference<LoadRecognizerOptions>
  readonly model: PartReference<LoadModelOptions>
  readonly voice: PartReference<LoadVoiceOptions>
  /** Of the one conversation that there is. */
  readonly chat?: ChatOptions
  /** Most bytes of weights, run state and conversation at once. */
  readonly memoryLimit: number
  readonly threads?: number
  /** Told of every coming and going, with how long it took. */
  readonly onSwap?: (swap: Swap) => void
}

export interface SpeakingModels {
  transcribe(audio: AudioClip, options?: TranscribeOptions): AsyncIterableIterator<TranscriptEvent>
  ask(message: UserMessage, options?: GenerationOptions): AsyncIterableIterator<ChatEvent>
  synthesize(text: string, options?: SpeakOptions): AsyncIterableIterator<SpokenPiece>
  /** Brings one in before it is needed: the model while a person is still speaking. */
  prepare(part: SpeakingPart): void
  /** Whether answers can be spoken while they are made: model and voice fit beside each other. */
  readonly speaksWhileAnswering: boolean
  /** Most bytes that were in use at once. */
  readonly peakBytes: number
  dispose(): Promise<void>
}

export async function createSpeakingModels(
  host: EngineHost & VoiceHost,
  options: SpeakingModelsOptions,
): Promise<SpeakingModels> {
  const { threads, memoryLimit, onSwap } = options
  const shared = await createWasmBackend(host.workers, threads === undefined ? {} : { threads })
  try {
    const turns = new ModelTurns(createParts(host, shared, options), memoryLimit, onSwap)
    return {
      transcribe: (audio, own) => stream(turns, 'recognizer', (it) => it.transcribe(audio, own), own?.signal),
      ask: (message, own) => stream(turns, 'model', ({ chat }) => chat.send(message, own), own?.signal),
      synthesize: (text, own) => stream(turns, 'voice', (it) => it.synthesize(text, own), own?.signal),
      prepare: (part) => turns.prepare(part),
      get speaksWhileAnswering() {
        return turns.fitTogether('model', 'voice')
      },
      get peakBytes() {
        return turns.peakBytes
      },
      async dispose() {
        await turns.dispose()
        await shared.dispose()
        await host.workers.reclaimMemory?.()
      },
    }
  } catch (error) {
    await shared.dispose()
    throw error
  }
}

interface Answering {
  readonly model: Model
  readonly chat: Chat
}

// Without it the parts would be taken for a table of any names.
type Parts = {
  readonly recognizer: TurnPart<Recognizer>
  readonly model: TurnPart<Answering>
  readonly voice: TurnPart<Voice>
}

function createParts(
  host: EngineHost & VoiceHost,
  shared: Backend,
  { recognizer, model, voice, chat }: SpeakingModelsOptions,
): Parts {
  /** The conversation while its model is away. */
  let aside: Blob | undefined
  return {
    recognizer: createPart(recognizer, shared, async (lease, { reference, options }, signal) =>
      loadRecognizerOn(host, reference, { ...options, ...(signal && { signal }) }, lease),
    ),
    voice: createPart(voice, shared, async (lease, { reference, options }, signal) =>
      loadVoiceOn(host, reference, { ...options, ...(signal && { signal }) }, lease),
    ),
    model: createPart(model, shared, async (lease, { reference, options }, signal) => {
      const loaded = await loadModelOn(host, reference, { ...options, ...(signal && { signal }) }, lease)
      const open = aside ? await loaded.restore(aside) : loaded.chat(chat)
      aside = undefined
      return {
        model: loaded,
        chat: open,
        dispose: async () => {
          aside = await saveIfBegun(open)
          await loaded.dispose()
        },
      }
    }),
  }
}

async function saveIfBegun(chat: Chat): Promise<Blob | undefined> {
  return chat.turns.length > 0 ? chat.save() : undefined
}

function createPart<Options, Value extends { dispose(): Promise<void> }>(
  wanted: PartReference<Options>,
  shared: Backend,
  load: (lease: Backend, wanted: PartReference<Options>, signal: AbortSignal | undefined) => Promise<Value>,
): TurnPart<Value> {
  return {
    estimatedBytes: wanted.estimatedBytes,
    async load(signal): Promise<LoadedPart<Value>> {
      const lease = leaseBackend(shared)
      try {
        const value = await load(lease, wanted, signal)
        return {
          value,
          bytes: () => lease.allocatedBytes,
          release: async () => {
            await value.dispose()
            await lease.dispose()
          },
        }
      } catch (error) {
        await lease.dispose()
        throw error
      }
    },
  }
}

/** Events of a part that stays until they end, or nobody reads on. */
async function* stream<Name extends SpeakingPart, Event>(
  turns: ModelTurns<Parts>,
  name: Name,
  begin: (value: Parts[Name] extends TurnPart<infer Value> ? Value : never) => AsyncIterable<Event>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, undefined, undefined> {
  const queue: Event[] = []
  let wake = (): void => {}
  let isOver = false
  const stop = new AbortController()
  const ended = turns.use(
    name,
    async (value) => {
      for await (const event of begin(value)) {
        queue.push(event)
        wake()
        if (stop.signal.aborted) return
      }
    },
    signal,
  )
  const over = ended.finally(() => {
    isOver = true
    wake()
  })
  over.catch(() => {}) // awaited below
  try {
    for (;;) {
      const event = queue.shift()
      if (event !== undefined) yield event
      else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    await over
  } finally {
    stop.abort()
    await over.catch(() => {}) // told above, or nobody reads on
  }
}
