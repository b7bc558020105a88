/** One line of progress on a terminal, drawn over itself. */
import type { OutputStream } from './context.ts'

/** `redraw` for terminals that can, `lines` says once what begins, `off` says nothing. */
export type ProgressMode = 'redraw' | 'lines' | 'off'

const BAR_CELLS = 24
/** Narrower terminals get the words and the percentage only, so that the line never wraps. */
const COLUMNS_FOR_BAR = 64
/** Often enough to look alive, seldom enough to cost nothing over a slow connection. */
const REDRAW_MS = 60
const START_OF_LINE = '\r\u001b[K'

export class ProgressLine {
  readonly #stream: OutputStream
  readonly #mode: ProgressMode
  readonly #now: () => number
  #label = ''
  #drawn = false
  #drawnAt = 0

  constructor(stream: OutputStream, mode: ProgressMode, now: () => number = () => performance.now()) {
    this.#stream = stream
    this.#mode = mode
    this.#now = now
  }

  /**
   * @param label Words without numbers: a new label is a new step.
   * @param detail Such as speed and time left; left out where it does not fit.
   */
  show(label: string, done: number, total: number, detail = ''): void {
    if (this.#mode === 'off') return
    const isNewStep = label !== this.#label
    this.#label = label
    if (this.#mode === 'lines') {
      if (isNewStep) this.#stream.write(`${label} …\n`)
      return
    }
    const now = this.#now()
    if (!isNewStep && done < total && now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    this.#drawn = true
    this.#stream.write(`${START_OF_LINE}${label} ${this.#figures(done, total, detail)}`)
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (this.#drawn) this.#stream.write(START_OF_LINE)
    this.#drawn = false
    this.#label = ''
  }

  #figures(done: number, total: number, detail: string): string {
    const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
    const percent = `${Math.floor(share * 100)}%`.padStart(4)
    const columns = this.#stream.columns ?? 0
    const filled = Math.floor(share * BAR_CELLS)
    const bar = columns < COLUMNS_FOR_BAR ? '' : `[${'#'.repeat(filled)}${'-'.repeat(BAR_CELLS - filled)}] `
    if (detail === '') return bar + percent
    const choices = [`${bar}${percent}  ${detail}`, `${percent}  ${detail}`]
    return choices.find((text) => this.#label.length + 1 + text.length < columns) ?? bar + percent
  }
}
