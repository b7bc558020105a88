/** What screen readers are told. One module owns the two live regions of the page; nobody else writes into any. */

export interface Announcer {
  /** A short message, such as "Photo added." `assertive` interrupts: for errors and hazards only. */
  say(text: string, priority?: 'polite' | 'assertive'): void
  /** Announces an answer that streams, by whole sentences. */
  beginAnswer(language?: string): AnswerAnnouncement
}

export interface AnswerAnnouncement {
  push(delta: string): void
  finish(outcome: 'finished' | 'stopped' | 'failed'): void
}
