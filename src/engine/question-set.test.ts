import { describe, expect, it } from 'vitest'
import { parseQuestionSet } from './question-set.ts'

describe('parseQuestionSet', () => {
  it('reads questions of one and of several turns, and other names for the same fields', () => {
    const text = [
      '{"picture": "a.png", "ask": "What is it?", "answer": "A cat."}',
      '',
      '{"id": "two", "image": "b.png", "turns": [{"question": "Where?", "answers": ["Left", "At the left"]}, {"ask": "Why?", "truth": "So."}]}',
    ].join('\n')
    expect(parseQuestionSet(text, 'a.jsonl', true)).toEqual([
      { id: '1', pictures: ['a.png'], turns: [{ ask: 'What is it?', answers: ['A cat.'] }] },
      {
        id: 'two',
        pictures: ['b.png'],
        turns: [
          { ask: 'Where?', answers: ['Left', 'At the left'] },
          { ask: 'Why?', answers: ['So.'] },
        ],
      },
    ])
  })

  it('takes questions without pictures, and without answers where none are needed', () => {
    expect(parseQuestionSet('{"ask": "Who?"}', 'a.jsonl', false)).toEqual([
      { id: '1', pictures: [], turns: [{ ask: 'Who?', answers: [] }] },
    ])
  })

  it.each([
    ['', 'a.jsonl: expected one JSON object a line, found an empty file.'],
    ['{', /^a\.jsonl:1 is not JSON: /],
    ['[]', 'a.jsonl:1: expected a JSON object, found [].'],
    [
      '{"ask": "Who?"}',
      'a.jsonl:1, turn 1: expected "answer" with the right answer, or "answers" with several.',
    ],
    ['{"answer": "A"}', 'a.jsonl:1, turn 1: expected one "ask" with the question.'],
    ['{"turns": []}', 'a.jsonl:1: "turns" should be a list with at least one turn, found [].'],
    ['{"turns": [3]}', 'a.jsonl:1, turn 1: expected a JSON object, found 3.'],
    ['{"ask": 3, "answer": "A"}', 'a.jsonl:1, turn 1: "ask" should be a text or a list of texts, found 3.'],
    ['{"id": {}, "ask": "Who?", "answer": "A"}', 'a.jsonl:1: "id" should be a text or a number, found {}.'],
    [
      '{"id": 1, "ask": "Who?", "answer": "A"}\n{"id": "1", "ask": "Who?", "answer": "A"}',
      'a.jsonl:2: the id "1" is used twice.',
    ],
  ])('refuses %s', (text, message) => {
    expect(() => parseQuestionSet(text, 'a.jsonl', true)).toThrow(message)
  })
})
