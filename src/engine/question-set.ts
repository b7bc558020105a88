/**
 * Sets of pictures, questions and answers, for measuring and for calibrating. One JSON object a line:
 * `{"picture": "a.png", "ask": "What is it?", "answer": "A cat."}`, or with several turns
 * `{"picture": "a.png", "turns": [{"ask": "…", "answer": "…"}, …]}`. Pictures are named relative to the set's file.
 */
import { EngineError } from '../shared/errors.ts'

export interface SetTurn {
  readonly ask: string
  /** All that count as right; the first is the one that the model is led through. Empty where none is known. */
  readonly answers: readonly string[]
}

export interface SetItem {
  /** The item's own `id`, or its line number. */
  readonly id: string
  /** As written in the file; they go with the first turn. */
  readonly pictures: readonly string[]
  readonly turns: readonly SetTurn[]
}

/** Questions beyond this are no set but another kind of file; the largest public benchmarks have some 200,000. */
const MAX_ITEMS = 1_000_000

type Fields = Readonly<Record<string, unknown>>

/** Other names under which sets keep the same things. */
const PICTURE_KEYS = ['picture', 'image', 'pictures', 'images']
const ASK_KEYS = ['ask', 'question']
const ANSWER_KEYS = ['answer', 'answers', 'truth']

/**
 * @param needsAnswers Whether a turn without an answer is an error.
 * @throws EngineError `config/bad-set` naming file, line and field.
 */
export function parseQuestionSet(text: string, name: string, needsAnswers: boolean): SetItem[] {
  const items: SetItem[] = []
  const ids = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const where = `${name}:${index + 1}`
    const item = parseItem(line, where, index + 1, needsAnswers)
    if (ids.has(item.id)) throw badSet(`${where}: the id "${item.id}" is used twice.`)
    ids.add(item.id)
    items.push(item)
    if (items.length > MAX_ITEMS) throw badSet(`${name} has more than ${MAX_ITEMS} lines.`)
  }
  if (items.length === 0) throw badSet(`${name}: expected one JSON object a line, found an empty file.`)
  return items
}

function parseItem(line: string, where: string, lineNumber: number, needsAnswers: boolean): SetItem {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw badSet(`${where} is not JSON: ${(cause as Error).message}`)
  }
  if (!isFields(value)) throw badSet(`${where}: expected a JSON object, found ${describe(value)}.`)
  const id = value['id'] ?? lineNumber
  if (typeof id !== 'string' && typeof id !== 'number')
    throw badSet(`${where}: "id" should be a text or a number, found ${describe(id)}.`)
  const turns = value['turns'] ?? [value]
  if (!Array.isArray(turns) || turns.length === 0)
    throw badSet(`${where}: "turns" should be a list with at least one turn, found ${describe(turns)}.`)
  return {
    id: String(id),
    pictures: readTexts(value, PICTURE_KEYS, where) ?? [],
    turns: turns.map((turn: unknown, index) => parseTurn(turn, `${where}, turn ${index + 1}`, needsAnswers)),
  }
}

function parseTurn(value: unknown, where: string, needsAnswers: boolean): SetTurn {
  if (!isFields(value)) throw badSet(`${where}: expected a JSON object, found ${describe(value)}.`)
  const [ask, ...more] = readTexts(value, ASK_KEYS, where) ?? []
  if (ask === undefined || more.length > 0) throw badSet(`${where}: expected one "ask" with the question.`)
  const answers = readTexts(value, ANSWER_KEYS, where) ?? []
  if (needsAnswers && answers.length === 0)
    throw badSet(`${where}: expected "answer" with the right answer, or "answers" with several.`)
  return { ask, answers }
}

/** A text or a list of texts under the first of these names that is there. */
function readTexts(fields: Fields, keys: readonly string[], where: string): readonly string[] | undefined {
  for (const key of keys) {
    const value = fields[key]
    if (value === undefined || value === null) continue
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    const wrong = list.find((entry) => typeof entry !== 'string')
    if (wrong !== undefined || list.length === 0)
      throw badSet(
        `${where}: "${key}" should be a text or a list of texts, found ${describe(wrong ?? value)}.`,
      )
    return list as readonly string[]
  }
  return undefined
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

function badSet(message: string): EngineError {
  return new EngineError('config/bad-set', {
    message,
    hint: 'A line looks like {"picture": "a.png", "ask": "What is it?", "answer": "A cat."}',
  })
}
