/** Texts of models and downloads. */
import type { Texts } from './text-table.ts'

export const modelTexts = {} satisfies Texts
