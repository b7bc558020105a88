/** What a question is for, in a person's words. */
import { signal } from '@preact/signals'

export const MODES = ['describe', 'read', 'ahead', 'find', 'changed'] as const
export type Mode = (typeof MODES)[number]

/** The mode of the next question, on every screen. */
export const currentMode = signal<Mode>('describe')
