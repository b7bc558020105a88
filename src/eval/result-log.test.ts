import { describe, expect, it } from 'vitest'
import { type QuestionResult, ResultLog, type ResultStore } from './result-log.ts'

const RESULT: QuestionResult = {
  variant: 'q4',
  item: '7',
  turn: 1,
  text: 'A cat.',
  exact: 1,
  normalized: 1,
  anls: 1,
  klSum: 0.25,
  sameTop: 3,
  positions: 4,
}

function memoryStore(text = ''): ResultStore & { lines: string[] } {
  const lines: string[] = []
  return { name: 'r.jsonl', text, lines, append: async (line) => void lines.push(line) }
}

describe('ResultLog', () => {
  it('finds again what was added before', async () => {
    const first = memoryStore()
    await (await ResultLog.open(first, 'tiny on a.jsonl')).add(RESULT)
    const second = memoryStore(`${first.lines.join('\n')}\n`)
    const log = await ResultLog.open(second, 'tiny on a.jsonl')
    expect(log.find('q4', '7', 1)).toEqual(RESULT)
    expect(log.find('q4', '7', 0)).toBeUndefined()
    expect(second.lines).toEqual([])
  })

  it('asks again where the last line was cut', async () => {
    const first = memoryStore()
    await (await ResultLog.open(first, 's')).add(RESULT)
    const text = first.lines.join('\n')
    const log = await ResultLog.open(memoryStore(text.slice(0, -5)), 's')
    expect(log.find('q4', '7', 1)).toBeUndefined()
  })

  it('refuses results of something else and files that are none', async () => {
    await expect(ResultLog.open(memoryStore('{"onsightEval":1,"subject":"a"}\n'), 'b')).rejects.toMatchObject(
      {
        code: 'option/resume',
        message: 'r.jsonl holds results of another evaluation: a; this one is b.',
      },
    )
    await expect(ResultLog.open(memoryStore('hello\n'), 'b')).rejects.toThrow(
      'r.jsonl is not a file of results of this version.',
    )
  })
})
