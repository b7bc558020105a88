/**
 * The browser's voices, those on the device only: others send the text to a server. Engines get stuck, fall silent
 * without saying so, and load late; all of that is handled here.
 */
import { createAbortError } from '../../../shared/abort.ts'
import { EngineError } from '../../../shared/errors.ts'
import { isChineseTag, isHan, isSpeakable } from '../../../speech/text/scripts.ts'
import { SentenceCutter } from '../../../speech/text/sentence-cutter.ts'
import type { SayOptions, Speaker } from '../../../speech/types.ts'

/** What is used of the browser. */
export interface SpeechPlatform {
  readonly speechSynthesis?: SpeechSynthesis
  readonly SpeechSynthesisUtterance?: new (text: string) => SpeechSynthesisUtterance
}

export interface PlatformVoice {
  readonly name: string
  /** BCP 47. */
  readonly language: string
}

export interface PlatformVoiceOptions {
  /** As `listPlatformVoices` names it. Default: a good one of the language that is spoken. */
  readonly voice?: string
  readonly platform?: SpeechPlatform
}

/** Voices come late in some browsers. */
const VOICES_MS = 3000
const POLL_MS = 100
/** A voice that has not begun by then never will. */
const START_MS = 3000
/** Characters a second of a slow voice: twice the time is allowed. */
const LATIN_A_SECOND = 12
const HAN_A_SECOND = 3.5
const LEAST_END_MS = 4000
/** Voices of macOS and iOS that are jokes, and the synthetic family that comes with every language. */
const NOVELTIES =
  /^(?:Albert|Bad News|Bahh|Bells|Boing|Bubbles|Cellos|Fred|Good News|Jester|Junior|Kathy|Organ|Ralph|Superstar|Trinoids|Whisper|Wobble|Zarvox|(?:Eddy|Flo|Grandma|Grandpa|Reed|Rocko|Sandy|Shelley)(?: \(.*\))?)$/

/** Voices on this device. Empty where there are none, as in WebViews. */
export async function listPlatformVoices(
  platform: SpeechPlatform = globalThis,
): Promise<readonly PlatformVoice[]> {
  return (await loadVoices(platform)).map((voice) => ({ name: voice.name, language: tagOf(voice) }))
}

/**
 * @throws EngineError `speech/no-voice` where the browser has no voice on the device, or none of that name.
 */
export async function createPlatformSpeaker({
  voice,
  platform = globalThis,
}: PlatformVoiceOptions = {}): Promise<Speaker> {
  const voices = await loadVoices(platform)
  const { speechSynthesis, SpeechSynthesisUtterance } = platform
  if (voices.length === 0 || !speechSynthesis || !SpeechSynthesisUtterance) {
    throw new EngineError('speech/no-voice', {
      message: 'This browser has no voice that stays on the device.',
      hint: 'Install one in the settings of the system, or load a voice model.',
    })
  }
  if (voice !== undefined && !voices.some(({ name }) => name === voice)) {
    throw new EngineError('speech/no-voice', {
      message: `There is no voice ${JSON.stringify(voice)} on this device; it has ${voices.length} others.`,
    })
  }
  return new BrowserSpeaker(speechSynthesis, SpeechSynthesisUtterance, voices, voice)
}

/**
 * To be called in the handler of a touch or click, such as the one of the microphone's button: iOS speaks only in pages
 * that spoke in a gesture before.
 */
export function unlockPlatformVoice({
  speechSynthesis,
  SpeechSynthesisUtterance,
}: SpeechPlatform = globalThis): void {
  if (!speechSynthesis || !SpeechSynthesisUtterance) return
  const silence = new SpeechSynthesisUtterance(' ')
  silence.volume = 0
  speechSynthesis.speak(silence)
}

class BrowserSpeaker implements Speaker {
  readonly name: string
  readonly languages: readonly string[]
  readonly #synthesis: SpeechSynthesis
  readonly #Utterance: new (
    text: string,
  ) => SpeechSynthesisUtterance
  readonly #voices: readonly SpeechSynthesisVoice[]
  readonly #voice: string | undefined
  readonly #stop = new AbortController()
  #tail: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(
    synthesis: SpeechSynthesis,
    Utterance: new (text: string) => SpeechSynthesisUtterance,
    voices: readonly SpeechSynthesisVoice[],
    voice: string | undefined,
  ) {
    this.#synthesis = synthesis
    this.#Utterance = Utterance
    this.#voices = voices
    this.#voice = voice
    this.name = voice ?? 'browser'
    this.languages = [...new Set(voices.map(tagOf))]
  }

  say(text: string, options: SayOptions = {}): Promise<void> {
    const stop = options.signal ? AbortSignal.any([options.signal, this.#stop.signal]) : this.#stop.signal
    const before = this.#tail
    const isFirst = this.#waiting++ === 0
    const said = this.#say(text, options, stop, before, isFirst).finally(() => this.#waiting--)
    this.#tail = said.catch(() => {})
    return said
  }

  async dispose(): Promise<void> {
    this.#stop.abort()
    await this.#tail
  }

  async #say(
    text: string,
    options: SayOptions,
    signal: AbortSignal,
    before: Promise<void>,
    isFirst: boolean,
  ): Promise<void> {
    await before
    if (signal.aborted) throw createAbortError()
    // Engines that got stuck before are freed.
    if (isFirst) this.#synthesis.cancel()
    const cutter = new SentenceCutter({ startsEarly: false })
    let { onStarted } = options
    for (const piece of [...cutter.push(text), ...cutter.finish()].filter(isSpeakable)) {
      await this.#utter(piece.trim(), options, signal, onStarted)
      onStarted = undefined
    }
  }

  /** One utterance under watch. */
  #utter(
    text: string,
    { language, rate = 1, pitch = 1 }: SayOptions,
    signal: AbortSignal,
    onStarted: (() => void) | undefined,
  ): Promise<void> {
    const spoken = isHan(text) && !isChineseTag(language) ? 'zh' : (language ?? 'en')
    const voice = this.#voices.find(({ name }) => name === this.#voice) ?? chooseVoice(this.#voices, spoken)
    if (voice === undefined) {
      throw new EngineError('speech/no-voice', {
        message: `This device has no voice for the language "${spoken}".`,
        hint: 'Install one in the settings of the system, or load a voice model.',
      })
    }
    const utterance = new this.#Utterance(text)
    utterance.voice = voice
    utterance.lang = tagOf(voice)
    utterance.rate = Math.min(3, Math.max(0.5, rate))
    utterance.pitch = Math.min(2, Math.max(0.5, pitch))
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        utterance.onstart = utterance.onend = utterance.onerror = null
        settle()
      }
      const giveUp = (what: string): void =>
        end(() => {
          this.#synthesis.cancel()
          reject(
            new EngineError('speech/stuck', {
              message: `The voice "${voice.name}" did not ${what} in time.`,
              hint: 'Choose another voice if this happens again.',
            }),
          )
        })
      const onAbort = (): void =>
        end(() => {
          this.#synthesis.cancel()
          reject(createAbortError())
        })
      utterance.onstart = () => {
        clearTimeout(timer)
        timer = setTimeout(() => giveUp('end'), longestMs(text, utterance.rate))
        onStarted?.()
      }
      utterance.onend = () => end(resolve)
      utterance.onerror = (event) =>
        end(() =>
          reject(
            new EngineError('speech/voice-failed', {
              message: `The voice "${voice.name}" failed: ${event.error}.`,
              ...(event.error === 'not-allowed' && {
                hint: 'Call unlockPlatformVoice in the handler of a click before anything is said.',
              }),
            }),
          ),
        )
      signal.addEventListener('abort', onAbort)
      timer = setTimeout(() => giveUp('begin'), START_MS)
      this.#synthesis.speak(utterance)
    })
  }
}

/** Asks, listens and asks again, as the first answer is often empty. */
async function loadVoices({ speechSynthesis }: SpeechPlatform): Promise<readonly SpeechSynthesisVoice[]> {
  if (!speechSynthesis) return []
  const local = (): SpeechSynthesisVoice[] =>
    speechSynthesis.getVoices().filter((voice) => voice.localService === true)
  // Remote voices may be there first; local ones may still come.
  for (let waited = 0; local().length === 0 && waited < VOICES_MS; waited += POLL_MS) {
    if (waited === 0 || speechSynthesis.getVoices().length === 0) await pause(speechSynthesis, POLL_MS)
    else break
  }
  return local()
}

function pause(synthesis: SpeechSynthesis, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      synthesis.removeEventListener?.('voiceschanged', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    synthesis.addEventListener?.('voiceschanged', done)
  })
}

/** Android writes `zh_CN`. */
function tagOf({ lang }: SpeechSynthesisVoice): string {
  return lang.replace('_', '-')
}

function chooseVoice(
  voices: readonly SpeechSynthesisVoice[],
  language: string,
): SpeechSynthesisVoice | undefined {
  const wanted = language.toLowerCase()
  const base = baseOf(wanted)
  const same = voices.filter((voice) => baseOf(tagOf(voice).toLowerCase()) === base)
  const ordered = [...same.filter((voice) => tagOf(voice).toLowerCase() === wanted), ...same]
  return (
    ordered.find(({ name }) => /premium|enhanced|natural/i.test(name)) ??
    ordered.find(({ name }) => !NOVELTIES.test(name)) ??
    ordered[0]
  )
}

/** Three letters are as good as two. */
function baseOf(tag: string): string {
  const base = tag.split('-')[0] ?? ''
  return { cmn: 'zh', zho: 'zh', eng: 'en' }[base] ?? base
}

function longestMs(text: string, rate: number): number {
  let seconds = 0
  for (const character of text) seconds += isHan(character) ? 1 / HAN_A_SECOND : 1 / LATIN_A_SECOND
  return Math.max(LEAST_END_MS, (2 * seconds * 1000) / rate)
}
