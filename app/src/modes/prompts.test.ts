import { expect, test } from 'vitest'
import { abilityOf, knowsChinese } from './model-ability.ts'
import { MODES } from './modes.ts'
import { answerTokens, promptFor, promptLanguage } from './prompts.ts'

const TINY = { name: 'tiny', architecture: 'idefics3', fileBytes: 18_500_000 }
const SMOLVLM = { name: 'smolvlm-500m', architecture: 'idefics3', fileBytes: 640_000_000 }
const FASTVLM = { name: 'fastvlm-0.5b', architecture: 'llava', fileBytes: 700_000_000 }
const BASE = { question: '', brevity: 'normal', language: 'en', model: TINY } as const

test('how much is asked of a model goes by its size', () => {
  expect([TINY, SMOLVLM, FASTVLM, { ...SMOLVLM, fileBytes: 4.5e9 }, undefined].map(abilityOf)).toEqual([
    'trained-questions',
    'short-instructions',
    'short-instructions',
    'instructions',
    'instructions',
  ])
  expect([TINY, SMOLVLM, FASTVLM, undefined].map(knowsChinese)).toEqual([true, false, true, true])
})

test('the bundled model is asked what it was trained on, in both languages', () => {
  expect(MODES.map((mode) => promptFor({ ...BASE, mode }))).toEqual([
    'Describe this picture.',
    'Read the text.',
    'Describe this picture.',
    'List the objects.',
    'Describe this picture.',
  ])
  expect(MODES.map((mode) => promptFor({ ...BASE, mode, language: 'zh' }))).toEqual([
    '请描述这张图片。',
    '读一下文字。',
    '请描述这张图片。',
    '列出图中的物体。',
    '请描述这张图片。',
  ])
  // Brevity would be words that it never saw.
  expect(promptFor({ ...BASE, mode: 'describe', brevity: 'short' })).toBe('Describe this picture.')
  expect(promptFor({ ...BASE, mode: 'describe', question: ' How many dogs are there? ' })).toBe(
    'How many dogs are there?',
  )
})

test.each([
  ['keys', 'Is there a key?'],
  ['my keys', 'Is there a key?'],
  ['Where are my keys?', 'Is there a key?'],
  ['where is the umbrella', 'Is there an umbrella?'],
  ['find some glasses', 'Is there a glasses?'],
  ['Is there a bus?', 'Is there a bus?'],
  ['strawberries', 'Is there a strawberry?'],
  ['toothbrushes', 'Is there a toothbrush?'],
  ['钥匙', '图里有钥匙吗？'],
  ['我的钥匙在哪里？', '图里有钥匙吗？'],
  ['帮我找一下雨伞', '图里有雨伞吗？'],
  ['图里有椅子吗？', '图里有椅子吗？'],
])('finding %j asks the bundled model %j', (question, prompt) => {
  expect(promptFor({ ...BASE, mode: 'find', question })).toBe(prompt)
})

test('small models get one plain instruction, in a language that they know', () => {
  const request = { ...BASE, model: SMOLVLM, language: 'zh' } as const
  expect(promptLanguage(request)).toBe('en')
  expect(promptFor({ ...request, mode: 'describe' })).toBe('Describe what you see.')
  expect(promptFor({ ...request, mode: 'describe', brevity: 'short' })).toBe(
    'Describe what you see. Answer in one short sentence.',
  )
  // What was said before would be repeated by them; changes are found by comparing.
  expect(promptFor({ ...request, mode: 'changed', earlier: 'A dog.' })).toBe('Describe what you see.')
  expect(promptFor({ ...request, mode: 'describe', model: FASTVLM })).toBe('请描述你看到的内容。')
})

test('larger models are asked for directions, hazards and doubt', () => {
  const request = { ...BASE, model: undefined }
  const ahead = promptFor({ ...request, mode: 'ahead' })
  expect(ahead).toMatch(/^Say what is ahead of me\. Begin with hazards/)
  expect(ahead).toMatch(/12 o’clock is straight ahead/)
  expect(ahead).toMatch(/If you are not sure of something, say so/)
  expect(promptFor({ ...request, mode: 'changed', earlier: 'A dog sits on $& the left.' })).toContain(
    '"A dog sits on $& the left." Say only what is new',
  )
  expect(promptFor({ ...request, mode: 'read', brevity: 'short' })).not.toContain('short sentence')
  expect(promptFor({ ...request, mode: 'ahead', language: 'zh', question: '这里有车吗？' })).toMatch(
    /^这里有车吗？请说明我前方有什么。先说危险/,
  )
})

test('text is read to its end, however short answers should be', () => {
  expect([answerTokens('describe', 'short'), answerTokens('read', 'short')]).toEqual([48, 384])
})
