import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import type { ChatMessage } from './chat-message.ts'
import { createChatTemplate } from './chat-template.ts'
import { type FallbackTemplate, fallbackChatTemplate, findChatTemplate } from './find-chat-template.ts'

const GOLDEN = new URL('../../../test/golden/', import.meta.url)

interface Vector {
  name: string
  source: string
  contentForm: 'parts' | 'text'
  supportsSystem: boolean
  variables: Record<string, unknown>
  cases: { title: string; messages: ChatMessage[]; addGenerationPrompt: boolean; text: string }[]
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('text/chat-vectors.json', GOLDEN), 'utf8'))
const tokens = { bos: '<s>', eos: '</s>' }

function vectorOf(name: string): Vector {
  return vectors.find((vector) => vector.name === name)!
}

function user(text: string): ChatMessage {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return EngineError.isInstance(error) ? `${error.code}: ${error.message}` : `not ours: ${String(error)}`
  }
  return 'no error'
}

describe('against Transformers', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    const template = createChatTemplate(vector.source, 'chat_template.jinja', tokens)
    expect(template.contentForm).toBe(vector.contentForm)
    expect(template.supportsSystem).toBe(vector.supportsSystem)
    for (const { title, messages, addGenerationPrompt, text } of vector.cases) {
      const rendered = template.render(messages, { addGenerationPrompt, variables: vector.variables })
      expect(rendered, title).toBe(text)
    }
    expect(vector.cases.length).toBe(18)
  })

  test.each([['idefics3', 'smolvlm']] satisfies [FallbackTemplate, string][])(
    'the built-in %s template writes what %s does',
    (kind, name) => {
      const { source, name: label } = fallbackChatTemplate(kind)
      const template = createChatTemplate(source, label, tokens)
      for (const { title, messages, addGenerationPrompt, text } of vectorOf(name).cases) {
        expect(template.render(messages, { addGenerationPrompt }), title).toBe(text)
      }
    },
  )
})

describe('built-in templates', () => {
  const turns: ChatMessage[] = [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'What?' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] },
    user('Sure?'),
  ]

  test('llava', () => {
    const { source, name } = fallbackChatTemplate('llava')
    expect(name).toBe('built-in template "llava"')
    expect(createChatTemplate(source, name, {}).render(turns, { addGenerationPrompt: true })).toBe(
      'Be brief. USER: <image>\nWhat? ASSISTANT: A cat. USER: Sure? ASSISTANT:',
    )
  })

  test('chatml', () => {
    const { source, name } = fallbackChatTemplate('chatml')
    expect(createChatTemplate(source, name, {}).render(turns, { addGenerationPrompt: true })).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<image>\nWhat?<|im_end|>\n' +
        '<|im_start|>assistant\nA cat.<|im_end|>\n<|im_start|>user\nSure?<|im_end|>\n<|im_start|>assistant\n',
    )
  })
})

describe('what templates may use', () => {
  const now = (): Date => new Date(2026, 0, 5, 15, 4, 9)
  const render = (source: string): string =>
    createChatTemplate(source, 'chat_template.jinja', {}, now).render([user('x')], {
      addGenerationPrompt: false,
    })

  test('the date', () => {
    expect(render("{{ strftime_now('%d %b %Y, %-d %B %y, %A %a %H:%M:%S %-I %p %m %% %Q') }}")).toBe(
      '05 Jan 2026, 5 January 26, Monday Mon 15:04:09 3 PM 01 % %Q',
    )
  })

  test('range, forwards and backwards', () => {
    expect(render('{{ range(3) | list }}{{ range(1, 3) | list }}{{ range(5, 0, -2) | list }}')).toBe(
      '[0, 1, 2][1, 2][5, 3, 1]',
    )
  })

  test('a refusal of its own', () => {
    expect(codeOf(() => render("{{ raise_exception('roles must alternate') }}"))).toBe(
      'text/template: chat_template.jinja: the chat template refuses this conversation: roles must alternate',
    )
  })
})

describe('bad templates', () => {
  test.each([
    ['{% if %}', 'text/template: t: the chat template cannot be read'],
    ['{{ messages.nothing.here() }}', 'text/template: t: the chat template failed'],
    [
      '{% for a in range(2000000000) %}x{% endfor %}',
      'text/template: t: the chat template failed: range() made more than 100000 numbers',
    ],
    [
      '{% for a in range(400) %}{% for b in range(400) %}x{% endfor %}{% endfor %}',
      'text/template: t: the chat template failed: range() made more than 100000 numbers',
    ],
    ['x'.repeat(2 ** 18 + 1), 'text/template: t: the chat template has 262145 characters'],
  ])('%s', (source, message) => {
    expect(
      codeOf(() => createChatTemplate(source, 't', {}).render([user('x')], { addGenerationPrompt: true })),
    ).toContain(message)
  })
})

describe('finding the template', () => {
  const all = {
    chatTemplateJinja: 'jinja',
    chatTemplateJson: { chat_template: 'json' },
    tokenizerConfig: { chat_template: 'config' },
    ggufTemplate: 'gguf',
  }

  test('order', () => {
    const { chatTemplateJinja: _jinja, ...withoutJinja } = all
    const { chatTemplateJson: _json, ...withoutJson } = withoutJinja
    expect(findChatTemplate(all)).toEqual({ source: 'jinja', name: 'chat_template.jinja' })
    expect(findChatTemplate(withoutJinja)).toEqual({
      source: 'json',
      name: 'chat_template.json: chat_template',
    })
    expect(findChatTemplate(withoutJson)).toEqual({
      source: 'config',
      name: 'tokenizer_config.json: chat_template',
    })
    expect(findChatTemplate({ ggufTemplate: 'gguf', tokenizerConfig: {} })).toEqual({
      source: 'gguf',
      name: 'tokenizer.chat_template',
    })
    expect(findChatTemplate({ tokenizerConfig: { chat_template: null } })).toBeUndefined()
  })

  test('the default of several', () => {
    const named = [
      { name: 'tool_use', template: 'a' },
      { name: 'default', template: 'b' },
    ]
    expect(findChatTemplate({ tokenizerConfig: { chat_template: named } })?.source).toBe('b')
    expect(codeOf(() => findChatTemplate({ tokenizerConfig: { chat_template: named.slice(0, 1) } }))).toBe(
      'text/template: tokenizer_config.json: chat_template has no template named "default"; found "tool_use".',
    )
  })

  test('values of the wrong kind', () => {
    expect(codeOf(() => findChatTemplate({ chatTemplateJson: 'x' }))).toBe(
      'text/invalid-field: chat_template.json should be an object, found "x".',
    )
    expect(codeOf(() => findChatTemplate({ chatTemplateJson: {} }))).toBe(
      'text/invalid-field: chat_template.json: chat_template should be a string or a list of named templates, found nothing.',
    )
    expect(
      codeOf(() => findChatTemplate({ tokenizerConfig: { chat_template: [{ name: 'default' }] } })),
    ).toBe(
      'text/invalid-field: tokenizer_config.json: chat_template[0].template should be a string, found nothing.',
    )
  })
})
