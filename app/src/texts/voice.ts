/** Texts of voice in and out. */
import type { Texts } from './text-table.ts'

export const voiceTexts = {} satisfies Texts
