/** Texts of the live camera and the assistive modes. */
import type { Texts } from './text-table.ts'

export const liveTexts = {} satisfies Texts
