import { EngineError } from '../../shared/errors.ts'
import { describeValue, fieldError, isJsonObject, requireObject, requireString } from '../json-fields.ts'

/** Where a model may keep its chat template. Absent files are undefined. */
export interface ChatTemplateFiles {
  /** Text of `chat_template.jinja`. */
  chatTemplateJinja?: string | undefined
  /** Parsed `chat_template.json`. */
  chatTemplateJson?: unknown
  /** Parsed `tokenizer_config.json`. */
  tokenizerConfig?: unknown
  /** `tokenizer.chat_template` of a GGUF file. */
  ggufTemplate?: unknown
}

export interface FoundChatTemplate {
  readonly source: string
  /** The place it came from, for messages. */
  readonly name: string
}

/** Templates for models that carry none, by the form their family was trained on. */
export type FallbackTemplate = 'idefics3' | 'llava' | 'chatml'

/** The template of a model, in the order of Transformers 5: chat_template.jinja, chat_template.json, tokenizer_config.json, GGUF. */
export function findChatTemplate(files: ChatTemplateFiles): FoundChatTemplate | undefined {
  const { chatTemplateJinja, chatTemplateJson, tokenizerConfig, ggufTemplate } = files
  if (chatTemplateJinja !== undefined) return { source: chatTemplateJinja, name: 'chat_template.jinja' }
  if (chatTemplateJson !== undefined) {
    const name = 'chat_template.json'
    return readTemplate(requireObject(chatTemplateJson, name)['chat_template'], `${name}: chat_template`)
  }
  if (isJsonObject(tokenizerConfig) && tokenizerConfig['chat_template'] !== undefined) {
    const name = 'tokenizer_config.json: chat_template'
    if (tokenizerConfig['chat_template'] !== null) return readTemplate(tokenizerConfig['chat_template'], name)
  }
  if (ggufTemplate !== undefined) return readTemplate(ggufTemplate, 'tokenizer.chat_template')
  return undefined
}

/** What to use where `findChatTemplate` finds nothing; tell the user, since the model may expect another form. */
export function fallbackChatTemplate(kind: FallbackTemplate): FoundChatTemplate {
  return { source: FALLBACKS[kind], name: `built-in template "${kind}"` }
}

/** A template, or several by name of which "default" counts. */
function readTemplate(value: unknown, name: string): FoundChatTemplate {
  if (typeof value === 'string') return { source: value, name }
  if (!Array.isArray(value)) throw fieldError(name, 'a string or a list of named templates', value)
  const named = value.map((entry, index) => {
    const where = `${name}[${index}]`
    const fields = requireObject(entry, where)
    return {
      label: requireString(fields['name'], `${where}.name`),
      source: requireString(fields['template'], `${where}.template`),
    }
  })
  const found = named.find(({ label }) => label === 'default')
  if (found !== undefined) return { source: found.source, name: `${name} "default"` }
  throw new EngineError('text/template', {
    message: `${name} has no template named "default"; found ${named.map(({ label }) => describeValue(label)).join(', ')}.`,
    hint: 'Add a default template to the file.',
  })
}

const FALLBACKS: Readonly<Record<FallbackTemplate, string>> = {
  idefics3:
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}" +
    "{% if message['content'][0]['type'] == 'image' %}:{% else %}: {% endif %}" +
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}" +
    "<end_of_utterance>{{ '\\n' }}{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}",
  llava:
    "{% for message in messages %}{% if message['role'] != 'system' %}{{ message['role'] | upper }}: {% endif %}" +
    "{% for part in message['content'] if part['type'] == 'image' %}{{ '<image>\\n' }}{% endfor %}" +
    "{% for part in message['content'] if part['type'] == 'text' %}{{ part['text'] + ' ' }}{% endfor %}" +
    '{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}',
  chatml:
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
}
