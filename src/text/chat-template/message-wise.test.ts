import { readFileSync } from 'node:fs'
import { parse, tokenize } from '@huggingface/jinja'
import { describe, expect, it } from 'vitest'
import { fallbackChatTemplate } from './find-chat-template.ts'
import { splitMessageWise } from './message-wise.ts'

function isMessageWise(source: string): boolean {
  return splitMessageWise(parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))) !== undefined
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../test/golden/text/chat-vectors.json', import.meta.url), 'utf8'),
) as { name: string; source: string }[]

it('holds of these published templates', () => {
  const found = vectors.filter(({ source }) => isMessageWise(source)).map(({ name }) => name)
  expect(found).toEqual(['smolvlm', 'llava', 'smollm2', 'qwen2.5'])
  for (const kind of ['idefics3', 'llava', 'chatml'] as const)
    expect(isMessageWise(fallbackChatTemplate(kind).source)).toBe(true)
})

describe('holds', () => {
  it.each([
    '{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}',
    '{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}A:{% endif %}',
    "{% if messages[0].role == 'system' %}S{% endif %}{% for m in messages %}{{ messages[0].role if loop.first }}{% endfor %}",
    "{% for m in messages %}{% if m.role == 'user' %}{{ raise_exception('no') }}{% endif %}{% endfor %}",
    '{% for m in messages %}{% for part in m.content if part.text %}{{ part.text }}{% endfor %}{% endfor %}',
  ])('of %s', (source) => {
    expect(isMessageWise(source)).toBe(true)
  })
})

describe('does not hold where a message', () => {
  it.each([
    ['knows that it is the last', '{% for m in messages %}{{ m.content if loop.last }}{% endfor %}'],
    ['knows its place', '{% for m in messages %}{{ loop.index0 }}{% endfor %}'],
    ['knows the one before', '{% for m in messages %}{{ messages[loop.index0 - 1].role }}{% endfor %}'],
    ['knows the last', '{% for m in messages %}{{ messages[-1].role }}{% endfor %}'],
    ['counts the others', '{% for m in messages %}{{ messages | length }}{% endfor %}'],
    ['is followed by what counts them', '{% for m in messages %}{{ m }}{% endfor %}{{ messages | length }}'],
    ['comes after what looks at all', '{{ messages | tojson }}{% for m in messages %}{{ m }}{% endfor %}'],
    [
      'is written twice',
      '{% for m in messages %}{{ m }}{% endfor %}{% for m in messages %}{{ m }}{% endfor %}',
    ],
    ['keeps something for the next', '{% for m in messages %}{% set x = 1 %}{{ m }}{% endfor %}'],
    ['uses what was kept', '{% set ns = namespace(n=0) %}{% for m in messages %}{{ ns.n }}{% endfor %}'],
    ['may be the last', '{% for m in messages %}{{ m }}{% break %}{% endfor %}'],
    ['may be left out by a condition', "{% for m in messages if m.role != 'system' %}{{ m }}{% endfor %}"],
    ['is missing', '{% for m in messages %}{{ m }}{% else %}none{% endfor %}'],
    ['is one of some', '{% for m in messages[1:] %}{{ m }}{% endfor %}'],
    ['is called what the others are', '{% for messages in messages %}{{ messages }}{% endfor %}'],
    ['is known behind the loop', '{% for m in messages %}{{ m }}{% endfor %}{{ m }}'],
    ['tells the time', "{% for m in messages %}{{ strftime_now('%H') }}{% endfor %}"],
    [
      'is written by a macro',
      '{% macro w(m) %}{{ m }}{% endmacro %}{% for m in messages %}{{ w(m) }}{% endfor %}',
    ],
    ['stands in a condition', '{% if true %}{% for m in messages %}{{ m }}{% endfor %}{% endif %}'],
    ['hides the list in a value', '{% for m in messages %}{{ {"a": messages}["a"] }}{% endfor %}'],
    ['passes the list on', '{% for m in messages %}{{ m.update(all=messages) }}{% endfor %}'],
    ['passes its loop on', '{% for m in messages %}{{ f(loop) }}{% endfor %}'],
  ])('%s', (_, source) => {
    expect(isMessageWise(source)).toBe(false)
  })
})
