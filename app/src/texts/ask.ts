/** Texts of the conversation about pictures. */
import type { Texts } from './text-table.ts'

export const askTexts = {} satisfies Texts
