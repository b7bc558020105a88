/**
 * Tells answers that stream so that they can be listened to: that one comes, its first sentence as soon as that is whole,
 * all the rest in one piece, and that it is over. Knows nothing of the page.
 */
import { cleanForSpeech } from 'onsight/speech'
import type { Announcer, AnswerAnnouncement } from './announcer.ts'
import { RegionQueue, type RegionQueuePorts } from './region-queue.ts'
import { cutSentences } from './sentences.ts'

/** What is said around answers, in the language of the page. */
export interface AnnouncerWords {
  readonly answering: string
  readonly done: string
  readonly stopped: string
  readonly failed: string
  readonly empty: string
}

export interface AnnouncerPorts extends RegionQueuePorts {
  readonly words: () => AnnouncerWords
  /** `ends`: only that an answer comes and is there; its text is left to be read. */
  readonly style: () => 'sentences' | 'ends'
}

/** Most short messages that wait; the oldest is then out of date. */
const MAX_MESSAGES = 2

const MESSAGES = Symbol('messages')

export function createAnnouncer(ports: AnnouncerPorts): Announcer {
  const queue = new RegionQueue(ports)
  return {
    say(text, priority = 'polite') {
      queue.add({ text, priority, source: MESSAGES })
      queue.keepNewest(MESSAGES, MAX_MESSAGES)
    },
    beginAnswer(language) {
      // Who asks again no longer waits for the earlier answer.
      queue.remove(({ source }) => source !== MESSAGES)
      return new SentenceAnnouncement(queue, ports, language)
    },
  }
}

class SentenceAnnouncement implements AnswerAnnouncement {
  readonly #queue: RegionQueue
  readonly #ports: AnnouncerPorts
  readonly #language: string | undefined
  readonly #style: 'sentences' | 'ends'
  #text = ''
  /** The first sentence, once it was queued. */
  #first = ''
  #isFinished = false

  constructor(queue: RegionQueue, ports: AnnouncerPorts, language: string | undefined) {
    this.#queue = queue
    this.#ports = ports
    this.#language = language
    this.#style = ports.style()
    this.#add(ports.words().answering)
  }

  push(delta: string): void {
    if (this.#isFinished) return
    this.#text += delta
    if (this.#style === 'ends' || this.#first !== '') return
    const [first = '', next = ''] = cutSentences(this.#clean(), this.#language)
    // A sentence is whole when another one has begun: "3." may go on as "3.5".
    if (next.trim() === '') return
    this.#first = first
    this.#add(first.trim(), this.#language)
  }

  finish(outcome: 'finished' | 'stopped' | 'failed'): void {
    if (this.#isFinished) return
    this.#isFinished = true
    const words = this.#ports.words()
    if (outcome === 'finished') {
      if (this.#style === 'sentences') this.#addRest()
      this.#add(this.#text.trim() === '' ? words.empty : words.done)
      return
    }
    // Who stops an answer wants silence; what failed is on the screen.
    this.#queue.remove(({ source }) => source === this)
    if (outcome === 'stopped') this.#add(words.stopped)
    else this.#queue.add({ text: words.failed, priority: 'assertive', source: this })
  }

  /** What was not said yet, together with a first sentence that still waits. */
  #addRest(): void {
    const whole = this.#clean()
    const waiting = this.#queue.remove(({ source, text }) => source === this && text === this.#first.trim())
    const rest = waiting.length > 0 ? whole : withoutBeginning(whole, this.#first, this.#language)
    if (rest.trim() !== '') this.#add(rest.trim(), this.#language)
  }

  #clean(): string {
    return cleanForSpeech(this.#text, this.#language === undefined ? {} : { language: this.#language })
  }

  #add(text: string, language?: string): void {
    this.#queue.add({ text, priority: 'polite', language, source: this })
  }
}

function withoutBeginning(whole: string, first: string, language: string | undefined): string {
  if (first === '' || whole.startsWith(first)) return whole.slice(first.length)
  // Markup that ended later changed how the beginning reads.
  return cutSentences(whole, language).slice(1).join('')
}
