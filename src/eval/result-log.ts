/** Results of single questions, one JSON object a line, so that an interrupted evaluation goes on where it was. */
import { EngineError } from '../shared/errors.ts'

/** One question answered by one variant of a model. */
export interface QuestionResult {
  /** Which variant: the recipe's name. */
  readonly variant: string
  readonly item: string
  /** From 0 on. */
  readonly turn: number
  readonly text: string
  readonly exact: number
  readonly normalized: number
  readonly anls: number
  /** Over the positions of the right answer. */
  readonly klSum: number
  readonly sameTop: number
  readonly positions: number
}

/** Where results are kept; hosts implement it over a file. */
export interface ResultStore {
  /** What messages call it. */
  readonly name: string
  /** What is there from before; empty for a new one. */
  readonly text: string
  /** Adds one line. */
  append(line: string): Promise<void>
}

const NUMBERS = ['turn', 'exact', 'normalized', 'anls', 'klSum', 'sameTop', 'positions'] as const
const VERSION = 1

export class ResultLog {
  readonly #store: ResultStore | undefined
  readonly #results = new Map<string, QuestionResult>()

  private constructor(store: ResultStore | undefined) {
    this.#store = store
  }

  /**
   * @param subject What is evaluated, in words that differ when results may not be mixed.
   * @throws EngineError `option/resume` when the results are of something else.
   */
  static async open(store: ResultStore | undefined, subject: string): Promise<ResultLog> {
    const log = new ResultLog(store)
    if (store === undefined) return log
    const lines = store.text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length === 0) {
      await store.append(JSON.stringify({ onsightEval: VERSION, subject }))
      return log
    }
    log.#readHeader(lines[0] as string, subject, store.name)
    for (const line of lines.slice(1)) {
      const result = parseResult(line)
      // The last line of a run that was killed may be half a line; its question is asked again.
      if (result) log.#results.set(keyOf(result.variant, result.item, result.turn), result)
    }
    return log
  }

  find(variant: string, item: string, turn: number): QuestionResult | undefined {
    return this.#results.get(keyOf(variant, item, turn))
  }

  async add(result: QuestionResult): Promise<void> {
    this.#results.set(keyOf(result.variant, result.item, result.turn), result)
    await this.#store?.append(JSON.stringify(result))
  }

  #readHeader(line: string, subject: string, name: string): void {
    let header: unknown
    try {
      header = JSON.parse(line)
    } catch {
      header = undefined
    }
    const fields = (typeof header === 'object' && header !== null ? header : {}) as Record<string, unknown>
    if (fields['onsightEval'] === VERSION && fields['subject'] === subject) return
    throw new EngineError('option/resume', {
      message:
        fields['onsightEval'] === VERSION
          ? `${name} holds results of another evaluation: ${String(fields['subject'])}; this one is ${subject}.`
          : `${name} is not a file of results of this version.`,
      hint: 'Name another file, or delete this one to begin anew.',
    })
  }
}

function keyOf(variant: string, item: string, turn: number): string {
  return JSON.stringify([variant, item, turn])
}

function parseResult(line: string): QuestionResult | undefined {
  try {
    const value = JSON.parse(line) as Record<string, unknown>
    const isWhole =
      ['variant', 'item', 'text'].every((key) => typeof value[key] === 'string') &&
      NUMBERS.every((key) => typeof value[key] === 'number')
    return isWhole ? (value as unknown as QuestionResult) : undefined
  } catch {
    return undefined
  }
}
