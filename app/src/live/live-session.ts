/**
 * The live camera at work: frames go to the machine that says when to look, looks to the model, and what changed to the
 * person. Knows neither camera nor screen; everything comes through ports.
 */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { ModelAbility } from '../modes/model-ability.ts'
import type { Mode } from '../modes/modes.ts'
import { LiveLoop, type LiveLoopSettings, type LiveStatus } from './live-loop.ts'
import type { PowerState } from './look-pace.ts'
import { type TellWords, type Told, tell } from './tell.ts'

/** A look as the model is asked for it. */
export interface LookRequest {
  readonly picture: Blob
  readonly mode: Mode
  /** What the person looks for, or asked. */
  readonly question: string
  /** What was said of the scene before. */
  readonly earlier: string | undefined
  readonly signal: AbortSignal
}

export interface LivePorts {
  /** The picture that the camera shows now. */
  readonly picture: () => Promise<Blob | undefined>
  /** Streams the answer. */
  readonly look: (request: LookRequest) => AsyncIterable<string>
  /** Of the model that answers now. */
  readonly ability: () => ModelAbility
  /** Says what changed. */
  readonly tell: (told: Told) => void
  readonly words: TellWords
  /** Milliseconds. */
  readonly now: () => number
}

export interface LogEntry extends Told {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** Of an entry that answers somebody. */
  readonly question?: string
}

const LOG_LENGTH = 30
/** Of what was said before, as a larger model is told again: more would be more to read than the picture. */
const EARLIER_CHARACTERS = 600
/** An answer to a question is listened to before looks go on. */
const AFTER_QUESTION_MS = 3000

export class LiveSession {
  readonly #ports: LivePorts
  readonly #loop: LiveLoop
  readonly #log = signal<readonly LogEntry[]>([])
  readonly #status: ReturnType<typeof signal<LiveStatus>>
  readonly #problem = signal<unknown>(undefined)
  readonly #isAsking = signal(false)
  #mode: Mode
  #thing: string
  #before: string | undefined
  #current: AbortController | undefined
  #ids = 0

  /** Newest first. */
  readonly log: ReadonlySignal<readonly LogEntry[]> = this.#log
  /** Why the last look failed; undefined while all is well. */
  readonly problem: ReadonlySignal<unknown> = this.#problem
  /** Somebody's question is being answered. */
  readonly isAsking: ReadonlySignal<boolean> = this.#isAsking

  constructor(ports: LivePorts, mode: Mode, thing = '', settings: LiveLoopSettings = {}) {
    this.#ports = ports
    this.#mode = mode
    this.#thing = thing
    this.#loop = new LiveLoop(settings)
    this.#status = signal(this.#loop.status(ports.now()))
  }

  get status(): ReadonlySignal<LiveStatus> {
    return this.#status as ReadonlySignal<LiveStatus>
  }

  /** A picture of the camera came. @param cells See `ChangeDetector`. */
  frame(cells: Uint8Array): void {
    const decision = this.#loop.frame(cells, this.#ports.now())
    if (decision === 'look') void this.#look()
    else if (decision === 'abandon') this.#current?.abort()
  }

  /** Called now and then, so that the share of busy time falls while nothing happens. */
  refresh(): void {
    this.#status.value = this.#loop.status(this.#ports.now())
  }

  setPower(power: PowerState): void {
    this.#loop.setPower(power)
    this.refresh()
  }

  /** @param thing What is looked for, in the mode `find`. */
  setMode(mode: Mode, thing = ''): void {
    if (mode === this.#mode && thing === this.#thing) return
    this.#mode = mode
    this.#thing = thing
    this.restart()
  }

  /** The next scene is told whole: after a pause, in another mode, by another model. */
  restart(): void {
    this.#current?.abort()
    this.#before = undefined
    this.#problem.value = undefined
    this.#loop.forget()
    this.#loop.forgetTimes()
    this.refresh()
  }

  /** Nobody looks any more: what runs is stopped. What was said is remembered. */
  pause(): void {
    this.#current?.abort()
    this.#loop.forget()
    this.refresh()
  }

  /**
   * Answers a question about what the camera shows now; looks wait meanwhile. The answer is the caller's to say.
   *
   * @throws what the model throws; an `AbortError` when `signal` is aborted.
   */
  async *ask(question: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const picture = await this.#ports.picture()
    if (!picture) return
    this.#current?.abort()
    this.#isAsking.value = true
    this.#loop.restUntil(Number.POSITIVE_INFINITY)
    let text = ''
    try {
      const request = { picture, mode: 'describe', question, earlier: undefined, signal } as const
      for await (const delta of this.#ports.look(request)) {
        text += delta
        yield delta
      }
    } finally {
      this.#isAsking.value = false
      this.#loop.resumeAt(this.#ports.now() + AFTER_QUESTION_MS)
      if (text.trim() !== '')
        this.#add({ text: text.trim(), language: languageOf(text), isUrgent: false }, question)
    }
  }

  async #look(): Promise<void> {
    const controller = new AbortController()
    this.#current = controller
    const { signal } = controller
    const mode = this.#mode
    this.refresh()
    try {
      const picture = await this.#ports.picture()
      if (!picture) throw new Error('The camera gives no picture.')
      let text = ''
      const request = { picture, mode, question: this.#thing, earlier: this.#before, signal }
      for await (const delta of this.#ports.look(request)) {
        if (text === '') this.#loop.textCame()
        text += delta
      }
      if (signal.aborted) throw signal.reason
      this.#end('answered', controller)
      this.#problem.value = undefined
      this.#tell(mode, text)
    } catch (error) {
      if (signal.aborted) this.#end('abandoned', controller)
      else {
        this.#end('failed', controller)
        this.#problem.value = error
      }
    }
    this.refresh()
  }

  #end(outcome: 'answered' | 'failed' | 'abandoned', controller: AbortController): void {
    this.#loop.lookEnded(outcome, this.#ports.now())
    if (this.#current === controller) this.#current = undefined
  }

  #tell(mode: Mode, now: string): void {
    const ability = this.#ports.ability()
    const told = tell({ mode, ability, before: this.#before, now }, this.#ports.words)
    this.#before = this.#remember(mode, ability, now.trim(), told)
    if (!told) return
    this.#add(told)
    this.#ports.tell(told)
  }

  /** What the scene is now: the whole description, or where the model tells changes only, all of them so far. */
  #remember(mode: Mode, ability: ModelAbility, now: string, told: Told | undefined): string {
    if (mode !== 'changed' || ability !== 'instructions' || this.#before === undefined) return now
    return told ? `${this.#before} ${now}`.slice(-EARLIER_CHARACTERS) : this.#before
  }

  #add(told: Told, question?: string): void {
    const entry = { ...told, id: ++this.#ids, at: Date.now(), ...(question !== undefined && { question }) }
    this.#log.value = [entry, ...this.#log.value].slice(0, LOG_LENGTH)
  }
}

function languageOf(text: string): 'en' | 'zh' {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en'
}
