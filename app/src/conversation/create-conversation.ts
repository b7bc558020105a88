/**
 * A conversation about pictures: what was asked and answered, and what a person can do about it. The text is the
 * conversation; models come and go behind it, so a lost worker or another model loses nothing.
 */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { EngineError, type GenerationOptions } from 'onsight'
import type { AnswerAnnouncement } from '../announcer/announcer.ts'
import { takeEvent } from './answer-events.ts'
import { ChatSession } from './chat-session.ts'
import type { AskOptions, ConversationPorts, ConversationState, Message } from './conversation-ports.ts'
import { type Answer, answerOf, type Exchange, type Question, withAnswer } from './exchange.ts'
import { turnsOf } from './model-turns.ts'

/** So often an answer that goes on is kept, so that a page that is ended loses no more. */
const KEEP_MS = 3_000

/** Makes a second answer differ from the first, which is the likeliest one. */
const AGAIN: GenerationOptions = { temperature: 0.8, topP: 0.95 }

export class Conversation {
  readonly #ports: ConversationPorts
  readonly #session = new ChatSession()
  readonly #id: Signal<string>
  readonly #exchanges = signal<readonly Exchange[]>([])
  readonly #isAnswering = signal(false)
  #running: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined

  readonly #removed = signal<readonly Exchange[] | undefined>(undefined)

  readonly exchanges: ReadonlySignal<readonly Exchange[]> = this.#exchanges
  /** The conversation as it was before an edit or another answer took something away. */
  readonly removed: ReadonlySignal<readonly Exchange[] | undefined> = this.#removed
  readonly isAnswering: ReadonlySignal<boolean> = this.#isAnswering
  readonly messages: ReadonlySignal<readonly Message[]> = computed(() =>
    this.#exchanges.value.flatMap(messagesOf),
  )

  constructor(ports: ConversationPorts) {
    this.#ports = ports
    this.#id = signal(ports.createId())
  }

  get id(): string {
    return this.#id.value
  }

  get state(): ConversationState {
    return { id: this.id, exchanges: this.#exchanges.value }
  }

  /** Asks and shows the answer; it is told by the screen reader or our voice. An answer that goes on is stopped. */
  async ask(text: string, options: AskOptions): Promise<void> {
    await this.stop()
    const announcement = this.#ports.present(this.#ports.expectedLanguage(text))
    await drain(this.#run(this.#add(text, options), announcement))
  }

  /** Asks for somebody who says the answer himself, such as a conversation by voice. */
  async *answer(
    text: string,
    signal: AbortSignal,
    options: AskOptions,
  ): AsyncGenerator<string, void, undefined> {
    await this.stop()
    yield* this.#run(this.#add(text, options), undefined, signal)
  }

  /** Only `heard` of the last answer was said before somebody spoke; empty: the question is taken back. */
  async interrupted(heard: string): Promise<Question | undefined> {
    await this.stop()
    const last = this.#exchanges.value.at(-1)
    if (!last) return undefined
    if (heard === '') {
      this.#exchanges.value = this.#exchanges.value.slice(0, -1)
      this.#keep()
      return last.question
    }
    this.#change(last.id, answerOf(last).id, { text: heard, state: 'stopped' })
    this.#keep()
    return undefined
  }

  /** Resolves when nothing is answered any more; what has come stays. */
  async stop(): Promise<void> {
    this.#running?.controller.abort()
    await this.#running?.ended
  }

  /** Another answer to the question `id`. What followed it goes; `undo` brings it back. */
  async regenerate(id: string): Promise<void> {
    await this.stop()
    const before = this.#exchanges.value
    const index = before.findIndex((exchange) => exchange.id === id)
    const exchange = before[index]
    if (!exchange) return
    this.#removed.value = index < before.length - 1 ? before : undefined
    const given = answerOf(exchange)
    const answer = this.#newAnswer(exchange.question.text)
    // An answer that has nothing in it is no alternative.
    const kept = exchange.answers.filter(({ text }) => text !== '')
    this.#exchanges.value = [
      ...before.slice(0, index),
      { ...exchange, answers: [...kept, answer], shown: kept.length },
    ]
    const announcement = this.#ports.present(answer.language)
    const replaces = given.state === 'failed' || given.text === '' ? undefined : given.text
    await drain(this.#run({ exchange: id, answer: answer.id, replaces }, announcement))
  }

  /** Shows another of the answers that were given; the model goes on from that one. */
  show(id: string, index: number): void {
    this.#exchanges.value = this.#exchanges.value.map((exchange) =>
      exchange.id === id && exchange.answers[index] ? { ...exchange, shown: index } : exchange,
    )
    this.#keep()
  }

  /** Asks something else instead of the question `id`, about the same pictures. It and what followed goes. */
  async edit(id: string, text: string): Promise<void> {
    await this.stop()
    const before = this.#exchanges.value
    const index = before.findIndex((exchange) => exchange.id === id)
    const question = before[index]?.question
    if (!question) return
    this.#exchanges.value = before.slice(0, index)
    const place = this.#add(text, question)
    this.#removed.value = before
    await drain(this.#run(place, this.#ports.present(this.#ports.expectedLanguage(text))))
  }

  /** Brings back what an edit or another answer took away. */
  async undo(): Promise<void> {
    const removed = this.#removed.value
    if (!removed) return
    await this.stop()
    this.#removed.value = undefined
    this.#exchanges.value = removed
    this.#keep()
  }

  /** Begins a new one; this one stays in the history. */
  async clear(): Promise<void> {
    await this.open({ id: this.#ports.createId(), exchanges: [] })
  }

  async open({ id, exchanges }: ConversationState): Promise<void> {
    await this.stop()
    this.#session.dispose()
    this.#id.value = id
    this.#removed.value = undefined
    this.#exchanges.value = exchanges.map(withoutOpenAnswers)
  }

  #add(text: string, { mode, pictures = [] }: AskOptions): Place {
    this.#removed.value = undefined
    const answer = this.#newAnswer(text)
    const question = { text: text.trim(), prompt: text.trim(), mode, pictures }
    const exchange = { id: this.#ports.createId(), question, answers: [answer], shown: 0 }
    this.#exchanges.value = [...this.#exchanges.value, exchange]
    return { exchange: exchange.id, answer: answer.id }
  }

  #newAnswer(question: string): Answer {
    const language = this.#ports.expectedLanguage(question)
    return { id: this.#ports.createId(), text: '', state: 'waiting', language }
  }

  /** Yields what is added to the answer. */
  async *#run(
    place: Place,
    announcement: AnswerAnnouncement | undefined,
    outer?: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    if (outer?.aborted) abort()
    outer?.addEventListener('abort', abort)
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#running = { controller, ended }
    this.#isAnswering.value = true
    this.#keep()
    let outcome: 'finished' | 'stopped' | 'failed' = 'stopped'
    try {
      for await (const delta of this.#stream(place, controller.signal)) {
        announcement?.push(delta)
        yield delta
      }
      outcome = controller.signal.aborted ? 'stopped' : 'finished'
      this.#change(place.exchange, place.answer, { state: outcome })
    } catch (error) {
      outcome = isAbort(error) || controller.signal.aborted ? 'stopped' : 'failed'
      this.#change(place.exchange, place.answer, {
        state: outcome,
        ...(outcome === 'failed' && { error: describe(error) }),
      })
    } finally {
      // Whoever listens may leave in the middle.
      if (outcome === 'stopped') {
        controller.abort()
        this.#change(place.exchange, place.answer, { state: 'stopped' })
      }
      outer?.removeEventListener('abort', abort)
      announcement?.finish(outcome)
      this.#running = undefined
      this.#isAnswering.value = false
      this.#keep()
      end()
    }
  }

  /** Asks once more where the worker was lost before a word had come: that is no fault of the question. */
  async *#stream(place: Place, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    let hasBegun = false
    try {
      for await (const delta of this.#ask(place, signal)) {
        hasBegun = true
        yield delta
      }
    } catch (error) {
      if (hasBegun || signal.aborted || !isLost(error)) throw error
      yield* this.#ask(place, signal)
    }
  }

  async *#ask(place: Place, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const { answering, compose, now } = this.#ports
    const askedAt = now()
    const { model, info, answeredBy } = await answering(signal)
    signal.throwIfAborted()
    const exchanges = this.#exchanges.value
    const index = exchanges.findIndex(({ id }) => id === place.exchange)
    const exchange = exchanges[index]
    if (!exchange) return
    const before = exchanges.slice(0, index)
    const { question } = exchange
    const earlier = before.map((one) => answerOf(one).text).findLast((text) => text !== '')
    const { prompt, options, language, caution } = compose(question, earlier, info)
    this.#exchanges.value = exchanges.map((one) =>
      one === exchange ? { ...one, question: { ...question, prompt } } : one,
    )
    this.#change(place.exchange, place.answer, { language, answeredBy, caution, state: 'waiting' })
    const images = question.pictures.map(({ blob }) => blob)
    const events = this.#session.ask(
      {
        model,
        earlier: turnsOf(before),
        message: { text: prompt, ...(images.length > 0 && { images }) },
        replaces: place.replaces,
      },
      { ...options, ...(exchange.answers.length > 1 && AGAIN), signal },
    )
    let keptAt = now()
    let firstWordMs: number | undefined
    for await (const event of events) {
      if (event.type === 'text-delta') firstWordMs ??= now() - askedAt
      const answer = this.#find(place)
      if (answer) this.#change(place.exchange, place.answer, takeEvent(answer, event, firstWordMs ?? 0))
      if (event.type === 'text-delta') yield event.text
      if (now() - keptAt > KEEP_MS) {
        keptAt = now()
        this.#keep()
      }
    }
  }

  #find({ exchange, answer }: Place): Answer | undefined {
    return this.#exchanges.value.find(({ id }) => id === exchange)?.answers.find(({ id }) => id === answer)
  }

  #change(exchangeId: string, answerId: string, change: Partial<Answer>): void {
    this.#exchanges.value = this.#exchanges.value.map((exchange) =>
      exchange.id === exchangeId ? withAnswer(exchange, answerId, change) : exchange,
    )
  }

  #keep(): void {
    this.#ports.keep(this.state)
  }
}

interface Place {
  readonly exchange: string
  readonly answer: string
  /** The text that another answer is wanted for. */
  readonly replaces?: string | undefined
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

function messagesOf({ id, question, answers, shown }: Exchange): Message[] {
  const answer = answers[shown] as Answer
  return [
    { id, role: 'user', text: question.text, pictures: question.pictures, state: 'sent' },
    { id: answer.id, role: 'assistant', text: answer.text, pictures: [], state: answer.state },
  ]
}

/** What was being answered when the page was ended is not answered any more. */
function withoutOpenAnswers(exchange: Exchange): Exchange {
  const isOpen = ({ state }: Answer): boolean => state === 'waiting' || state === 'answering'
  if (!exchange.answers.some(isOpen)) return exchange
  return {
    ...exchange,
    answers: exchange.answers.map((answer) => (isOpen(answer) ? { ...answer, state: 'stopped' } : answer)),
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

function isLost(error: unknown): boolean {
  return EngineError.isInstance(error) && ['backend/lost', 'backend/disposed'].includes(error.code)
}

function describe(error: unknown): Answer['error'] {
  if (EngineError.isInstance(error)) return { code: error.code, message: error.message, hint: error.hint }
  return { code: 'app/unexpected', message: error instanceof Error ? error.message : String(error) }
}
