import { Resampler } from '../../audio/resampler.ts'
import { PassQueue } from '../../generation/pass-queue.ts'
import { createRandom } from '../../generation/random.ts'
import type { NormalNoise, Vits } from '../../models/vits/vits.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import { normalizeForSpeech } from '../text/normalize/normalize.ts'
import { SentenceCutter } from '../text/sentence-cutter.ts'
import type { SpeakOptions, SpeechModelInfo, SpokenPiece, Voice } from '../types.ts'
import type { TextToIds } from './voice-symbols.ts'

const RATES = { least: 0.5, most: 3 }
const PITCHES = { least: 0.5, most: 2 }
/** Between sentences, and within one. */
const SENTENCE_PAUSE_SECONDS = 0.25
const PHRASE_PAUSE_SECONDS = 0.08
/** The same text sounds the same each time. */
const SEED = 1

export class VitsVoice implements Voice {
  readonly #model: Vits
  readonly #toIds: TextToIds
  readonly #info: Omit<SpeechModelInfo, 'allocatedBytes'>
  readonly #allocatedBytes: () => number
  readonly #release: () => Promise<void>
  /** Sentences of several texts take turns. */
  readonly #queue = new PassQueue()
  #disposal: Promise<void> | undefined

  constructor(
    model: Vits,
    toIds: TextToIds,
    info: Omit<SpeechModelInfo, 'allocatedBytes'>,
    allocatedBytes: () => number,
    release: () => Promise<void>,
  ) {
    this.#model = model
    this.#toIds = toIds
    this.#info = info
    this.#allocatedBytes = allocatedBytes
    this.#release = release
  }

  get info(): SpeechModelInfo {
    return { ...this.#info, allocatedBytes: this.#disposal ? 0 : this.#allocatedBytes() }
  }

  async *synthesize(text: string, options: SpeakOptions = {}): AsyncIterableIterator<SpokenPiece> {
    const { rate = 1, pitch = 1, signal } = options
    checkRange('rate', rate, RATES)
    checkRange('pitch', pitch, PITCHES)
    const cutter = new SentenceCutter()
    const pieces = [...cutter.push(text), ...cutter.finish()]
    const language = options.language ?? this.#info.languages[0]
    let saysNothing = true
    for (const piece of pieces) {
      const ids = this.#toIds(normalizeForSpeech(piece, language))
      if (!ids) continue
      saysNothing = false
      yield* this.#say(piece, ids, { rate, pitch }, signal)
    }
    if (saysNothing && /[\p{L}\p{N}]/u.test(text)) {
      throw new EngineError('speech/cannot-say', {
        message: `${this.#info.name} has no sounds for "${text.slice(0, 40)}"; it speaks ${this.#info.languages.join(', ')}.`,
        hint: 'Use a voice of the language of the text.',
      })
    }
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#queue.run(async () => {
      this.#model.dispose()
      await this.#release()
    })
    return this.#disposal
  }

  async *#say(
    text: string,
    symbols: Int32Array,
    { rate, pitch }: { rate: number; pitch: number },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<SpokenPiece, void, undefined> {
    const { sampleRate } = this.#info
    // A higher pitch is the same sound played faster; it is made slower before, so that its length stays.
    const resampler = pitch === 1 ? undefined : new Resampler(Math.round(sampleRate * pitch), sampleRate)
    const stretches = this.#model.speak({
      symbols,
      rate: rate / pitch,
      noise: createNoise(SEED),
      signal,
    })
    let said = text
    for (;;) {
      throwIfAborted(signal)
      const { done, value } = await this.#queue.run(() => this.#next(stretches))
      if (done) break
      const samples = resampler ? resampler.push(value) : value
      // The first stretch of a sentence bears its text.
      if (samples.length > 0) yield { samples, sampleRate, text: said }
      said = ''
    }
    const rest = resampler?.finish() ?? new Float32Array()
    const pause = /[.!?。！？…]["'”’)]*\s*$/.test(text) ? SENTENCE_PAUSE_SECONDS : PHRASE_PAUSE_SECONDS
    const end = new Float32Array(rest.length + Math.round((sampleRate * pause) / rate))
    end.set(rest)
    yield { samples: end, sampleRate, text: '' }
  }

  #next(
    stretches: AsyncGenerator<Float32Array, void, undefined>,
  ): Promise<IteratorResult<Float32Array, void>> {
    if (this.#disposal === undefined) return stretches.next()
    throw new EngineError('speech/disposed', {
      message: `${this.#info.name} was closed.`,
      hint: 'Load the voice again to go on.',
    })
  }
}

/** Box and Muller's method. */
function createNoise(seed: number): NormalNoise {
  const random = createRandom(seed)
  return (count) =>
    Float32Array.from(
      { length: count },
      () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
    )
}

function checkRange(name: string, value: number, { least, most }: { least: number; most: number }): void {
  if (value >= least && value <= most) return
  throw new EngineError('option/invalid', {
    message: `The option "${name}" must be a number from ${least} to ${most}; found ${value}.`,
    field: name,
  })
}
