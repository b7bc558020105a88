/** A command's surroundings and a model made up for tests: what is said is scripted, what was asked is kept. */
import { PassThrough } from 'node:stream'
import type { BenchRequest } from '../engine/bench.ts'
import type {
  AnswerFinished,
  Chat,
  ChatEvent,
  ChatOptions,
  ConversationTurn,
  GenerationOptions,
  ImageReport,
  LoadModelOptions,
  Model,
  SnapshotText,
  TraceRequest,
  TraceTensor,
  UserMessage,
  WarmUpOptions,
} from '../engine/types.ts'
import type { BenchReport } from '../entry/bench.node.ts'
import { createAbortError } from '../shared/abort.ts'
import type {
  AudioClip,
  Recognizer,
  SpeakOptions,
  TranscribeOptions,
  TranscriptEvent,
  Voice,
  VoiceGate,
} from '../speech/types.ts'
import type { CommandContext, SpeechLibrary } from './context.ts'
import type { ExitCode } from './exit-codes.ts'
import { Interrupts } from './interrupts.ts'
import { runCli } from './program.ts'

export const BUNDLED_PATH = '/package/models/tiny'

export const IMAGE_REPORT: ImageReport = {
  width: 640,
  height: 480,
  usedWidth: 512,
  usedHeight: 384,
  tiles: 4,
  orientation: 6,
  detail: 'high',
  cached: false,
}

export const BENCH_REPORT: BenchReport = {
  numbers: { prefillTokensPerSecond64: 201.26, decodeTokensPerSecond: 5.5, peakResidentMegabytes: 412 },
  firstWordMs: { first: 900, followUp: 45, followUpWithoutReuse: 950.04 },
  environment: { machine: 'Some CPU', node: '24.0.0', threads: 2 },
}

/** One answer of the fake model. */
export interface FakeAnswer {
  readonly pieces?: readonly string[]
  readonly finishReason?: AnswerFinished['finishReason']
  readonly error?: unknown
  /** Called between pieces and before the end. */
  readonly onPiece?: () => void
}

export interface FakeModelSettings {
  readonly answers?: readonly FakeAnswer[]
  readonly loadError?: unknown
  /** Loading never ends. */
  readonly hangs?: boolean
  readonly defaults?: GenerationOptions
  readonly warnings?: readonly string[]
  readonly tensors?: readonly TraceTensor[]
  readonly saveError?: unknown
  readonly restoreError?: unknown
  readonly snapshotText?: SnapshotText
}

/** Everything that commands asked of the library. */
export interface FakeCalls {
  readonly loads: { readonly reference: string; readonly options: LoadModelOptions }[]
  readonly chats: ChatOptions[]
  readonly sent: {
    readonly message: UserMessage
    readonly options: GenerationOptions
    /** The turn in whose place the message was sent; its own when another answer was asked for. */
    readonly replaces?: number
  }[]
  readonly warmUps: WarmUpOptions[]
  readonly traces: TraceRequest[]
  readonly benches: { readonly subject: unknown; readonly request: BenchRequest }[]
  /** Where conversations were saved to, restored from. */
  readonly saves: string[]
  readonly restores: string[]
  /** What was said aloud, or made into samples; the voice that was asked for. */
  readonly said: { readonly text: string; readonly voice: string; readonly options: SpeakOptions }[]
  readonly transcripts: { readonly samples: readonly number[]; readonly options: TranscribeOptions }[]
  disposed: number
}

export interface FakeSettings extends FakeModelSettings {
  readonly env?: Readonly<Record<string, string>>
  /** What the fake recogniser hears. */
  readonly transcript?: readonly TranscriptEvent[]
  /** Text of standard input. */
  readonly input?: string
  /** Whether the three streams are terminals. */
  readonly isTerminal?: boolean
  readonly columns?: number
}

export interface FakeRun {
  readonly exitCode: ExitCode
  readonly stdout: string
  readonly stderr: string
  readonly calls: FakeCalls
}

/** Runs the command line with a fake model; `during` gets the interrupts and the input to play with. */
export async function runFake(
  args: readonly string[],
  settings: FakeSettings = {},
  during?: (interrupts: Interrupts, stdin: PassThrough) => void,
): Promise<FakeRun> {
  const calls: FakeCalls = {
    loads: [],
    chats: [],
    sent: [],
    warmUps: [],
    traces: [],
    benches: [],
    saves: [],
    restores: [],
    transcripts: [],
    said: [],
    disposed: 0,
  }
  const interrupts = new Interrupts()
  const isTTY = settings.isTerminal ?? false
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: settings.columns ?? 80 })
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: settings.columns ?? 80 })
  const context: CommandContext = {
    stdin,
    stdout,
    stderr,
    env: settings.env ?? {},
    interrupts,
    loadEngine: async () => ({
      bundledModelPath: () => BUNDLED_PATH,
      readSnapshotText: async (path) => {
        calls.restores.push(path)
        if (settings.snapshotText) return settings.snapshotText
        throw settings.restoreError
      },
      loadModel: (reference, options = {}) => {
        calls.loads.push({ reference, options })
        return loadFake(settings, calls, options)
      },
    }),
    loadSpeech: async () => ({
      ...createFakeVoices(calls),
      readAudioFile: (path) => clipsOf(path),
      loadRecognizer: async (reference, options = {}) => {
        calls.loads.push({ reference, options })
        if (settings.loadError !== undefined) throw settings.loadError
        return createFakeRecognizer(settings.transcript ?? [], calls)
      },
    }),
    loadBench: async () => async (subject, request) => {
      calls.benches.push({ subject, request })
      return BENCH_REPORT
    },
  }
  if (settings.input !== undefined) stdin.end(settings.input)
  during?.(interrupts, stdin)
  const exitCode = await runCli(args, context)
  return { exitCode, stdout: textOf(stdout), stderr: textOf(stderr), calls }
}

function createFakeVoices(calls: FakeCalls): Omit<SpeechLibrary, 'loadRecognizer' | 'readAudioFile'> {
  const createVoice = async (voice: string): Promise<Voice> => ({
    info: {
      name: voice,
      architecture: 'vits',
      languages: ['en'],
      sampleRate: 8000,
      fileBytes: 0,
      allocatedBytes: 0,
      loadMs: 0,
    },
    async *synthesize(text, options = {}) {
      calls.said.push({ text, voice, options })
      yield { text, samples: new Float32Array(text.length).fill(0.5), sampleRate: 8000 }
    },
    dispose: async () => {
      calls.disposed++
    },
  })
  return {
    listPlatformVoices: async () => [{ name: 'Ada', language: 'en-GB' }],
    createPlatformVoice: ({ voice = 'platform' } = {}) => createVoice(voice),
    loadVoice: (reference) => createVoice(reference),
    createPlatformSpeaker: async ({ voice = 'platform' } = {}) => ({
      name: voice,
      languages: ['en'],
      say: async (text, options = {}) => {
        options.onStarted?.()
        calls.said.push({ text, voice, options })
      },
      dispose: async () => {
        calls.disposed++
      },
    }),
    createAudioPlayer: async () => ({ name: 'fake', play: async () => {}, dispose: async () => {} }),
    // Half a second of speech, then a second of silence, in the samples that `createRecording` gives.
    createVoiceGate: async () => createFakeGate(),
    createRecording: (name) => ({
      name,
      kind: 'recording',
      async *open() {
        for (let frame = 0; frame < 60; frame++) yield new Float32Array(512).fill(frame < 16 ? 0.1 : 0)
      },
    }),
    createPipedMicrophone: async () => {
      throw new Error('tests give files')
    },
    findMicrophone: async () => {
      throw new Error('tests give files')
    },
  }
}

function createFakeGate(): VoiceGate {
  let position = 0
  let start: number | undefined
  return {
    counters: { levelFrames: 0, smallNetRuns: 0, largeNetRuns: 0 },
    push(samples) {
      const at = position
      position += samples.length
      const isLoud = samples.some((sample) => sample !== 0)
      if (isLoud === (start !== undefined)) return []
      const from = start ?? at
      start = isLoud ? at : undefined
      return [isLoud ? { type: 'speech-started', at } : { type: 'speech-ended', start: from, end: at }]
    },
    finish: () => [],
    reset() {
      position = 0
      start = undefined
    },
  }
}

async function* clipsOf(_path: string): AsyncGenerator<AudioClip> {
  yield { samples: new Float32Array(16), sampleRate: 16_000 }
}

function createFakeRecognizer(events: readonly TranscriptEvent[], calls: FakeCalls): Recognizer {
  return {
    info: {
      name: 'fake',
      architecture: 'whisper',
      languages: ['en', 'zh'],
      sampleRate: 16_000,
      fileBytes: 0,
      allocatedBytes: 0,
      loadMs: 0,
    },
    async *transcribe(audio, options = {}) {
      const samples: number[] = []
      for await (const clip of Symbol.asyncIterator in audio ? audio : [audio]) samples.push(...clip.samples)
      calls.transcripts.push({ samples, options })
      yield* events
    },
    listen: (options = {}) => ({
      push() {},
      partial: async () => '',
      async finish(more) {
        calls.transcripts.push({ samples: [], options: { ...options, ...more } })
        const finished = events.find((event) => event.type === 'transcript-finished')
        if (finished?.type !== 'transcript-finished') throw new Error('the test gives no transcript')
        return finished
      },
      dispose() {},
    }),
    dispose: async () => {
      calls.disposed++
    },
  }
}

function textOf(stream: PassThrough): string {
  return String(stream.read() ?? '')
}

async function loadFake(
  settings: FakeModelSettings,
  calls: FakeCalls,
  { onProgress }: LoadModelOptions,
): Promise<Model> {
  onProgress?.({ loadedBytes: 50, totalBytes: 100 })
  if (settings.hangs) await new Promise(() => {})
  if (settings.loadError !== undefined) throw settings.loadError
  onProgress?.({ loadedBytes: 100, totalBytes: 100 })
  const answers = [...(settings.answers ?? [])]
  const save = async (to: unknown): Promise<undefined> => {
    calls.saves.push(String(to))
    if (settings.saveError !== undefined) throw settings.saveError
  }
  const model: Model = {
    info: {
      name: 'fake',
      architecture: 'idefics3',
      takesImages: true,
      imageTokensPerTile: 64,
      contextLength: 2048,
      precision: 'q8',
      kv: 'f16',
      backend: 'wasm-relaxed',
      threads: 2,
      fileBytes: 100,
      allocatedBytes: 100,
      loadMs: 12.3456,
      warnings: settings.warnings ?? [],
    },
    defaults: settings.defaults ?? {},
    chat(options = {}) {
      calls.chats.push(options)
      const said: ConversationTurn[] = [{ role: 'user', text: 'What is it?', imageCount: 0 }]
      async function* say(message: UserMessage, options: GenerationOptions): AsyncGenerator<ChatEvent, void> {
        for await (const event of answer(message, options, answers.shift() ?? { pieces: ['A ', 'fox.'] })) {
          if (event.type === 'answer-finished')
            said.push({ role: 'assistant', text: event.text, imageCount: 0 })
          yield event
        }
      }
      return {
        get turns() {
          return said
        },
        send(message, options = {}) {
          calls.sent.push({ message, options })
          return say(message, options)
        },
        edit(index, message, options = {}) {
          calls.sent.push({ message, options, replaces: index })
          return say(message, options)
        },
        regenerate(options = {}) {
          const message = { text: 'What is it?' }
          calls.sent.push({ message, options, replaces: 0 })
          return say(message, options)
        },
        cutAnswer() {},
        save: save as Chat['save'],
        dispose() {},
      }
    },
    async restore(from) {
      calls.restores.push(String(from))
      if (settings.restoreError !== undefined) throw settings.restoreError
      return model.chat()
    },
    embed: async () => [],
    async warmUp(options = {}) {
      calls.warmUps.push(options)
      options.onProgress?.({ type: 'prompt-progressed', tokens: 5, totalTokens: 5 })
    },
    async trace(request) {
      calls.traces.push(request)
      return settings.tensors ?? []
    },
    async dispose() {
      calls.disposed++
    },
  }
  return model
}

async function* answer(
  { images = [] }: UserMessage,
  { signal, choices }: GenerationOptions,
  { pieces = [], finishReason = 'stop', error, onPiece }: FakeAnswer,
): AsyncGenerator<ChatEvent, void, undefined> {
  for (const image of images.keys()) {
    yield { type: 'image-progressed', image, frame: 1, frames: 2 }
    yield { type: 'image-encoded', image, report: IMAGE_REPORT }
  }
  yield { type: 'prompt-progressed', tokens: 70, totalTokens: 70 }
  const said: string[] = []
  for (const text of pieces) {
    if (signal?.aborted) break
    said.push(text)
    yield { type: 'text-delta', text }
    onPiece?.()
  }
  if (error !== undefined) throw error
  if (signal?.aborted && said.length === 0) throw createAbortError()
  yield {
    type: 'answer-finished',
    text: said.join(''),
    tokenIds: said.map((_, index) => index + 10),
    finishReason: signal?.aborted ? 'aborted' : finishReason,
    usage: {
      promptTokens: 70,
      imageTokens: 64 * images.length,
      cachedTokens: 0,
      completionTokens: said.length,
    },
    timings: { imageEncodeMs: 10.006, prefillMs: 20, firstTokenMs: 31.25, tokensPerSecond: 40.123456 },
    images: images.map(() => IMAGE_REPORT),
    ...(choices && { choices: choices.map((text) => ({ text, probability: 1 / choices.length })) }),
  }
}
