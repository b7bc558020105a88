import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { EngineError } from '../../shared/errors.ts'
import type { GrowthMemo } from '../growth-memo.ts'
import { describeCause } from '../json-fields.ts'
import type { ChatMessage, ContentPart } from './chat-message.ts'
import { type MessageWiseTemplate, type Program, splitMessageWise } from './message-wise.ts'
import { createTemplateGlobals, TemplateRefusal } from './template-globals.ts'

export interface ChatRenderOptions {
  /** Ends the prompt with the opening of the assistant's turn. */
  addGenerationPrompt: boolean
  /** More names for the template, such as `enable_thinking` or `date_string`. */
  variables?: Readonly<Record<string, unknown>>
  /** What was written of the conversation when it was shorter. Does not count where there are `variables`. */
  pieces?: GrowthMemo<string> | undefined
}

/** Turns a conversation into the prompt text a model was trained on. */
export interface ChatTemplate {
  readonly source: string
  /** `parts`: the template iterates over texts and images. `text`: it expects each turn to be one string. */
  readonly contentForm: 'parts' | 'text'
  /** False: a system turn goes in front of the first user text, two newlines between. */
  readonly supportsSystem: boolean
  /**
   * The prompt text, with `<image>` (or what the template itself writes) where a picture goes.
   * Where the template expects one string a turn, each image becomes `<image>` and a newline in front of the text.
   * Throws `text/template` when the template refuses the conversation or fails.
   */
  render(messages: readonly ChatMessage[], options: ChatRenderOptions): string
}

export interface ChatTemplateTokens {
  bos?: string | undefined
  eos?: string | undefined
  pad?: string | undefined
}

/** Longest template accepted; the longest published one known has about 20,000 characters. */
const MAX_TEMPLATE_CHARACTERS = 2 ** 18

/** Turns text-only templates' images into what vision prompts use everywhere. */
const IMAGE_LINE = '<image>\n'

/**
 * Compiles a Jinja chat template and finds out by trial what content it takes and whether it has system turns.
 * @param name what messages call the template: the file it came from
 * @param now the clock behind `strftime_now`
 */
export function createChatTemplate(
  source: string,
  name: string,
  tokens: ChatTemplateTokens,
  now: () => Date = () => new Date(),
): ChatTemplate {
  const program = compile(source, name)
  const run = createRunner(tokens, now)
  const runWhole = (turns: readonly unknown[]): string => run(program, turns, true)
  const contentForm = takesParts(runWhole) ? 'parts' : 'text'
  const supportsSystem = showsSystem(runWhole, contentForm)
  const messageWise = splitMessageWise(program)
  return {
    source,
    contentForm,
    supportsSystem,
    render: (messages, { addGenerationPrompt, variables, pieces }) => {
      const merged = supportsSystem ? messages : mergeSystemTurns(messages)
      const turns = contentForm === 'parts' ? merged : merged.map(flattenTurn)
      try {
        return variables === undefined && pieces !== undefined && messageWise !== undefined
          ? renderPieces(run, messageWise, turns, addGenerationPrompt, pieces)
          : run(program, turns, addGenerationPrompt, variables)
      } catch (cause) {
        throw templateError(name, cause)
      }
    },
  }
}

/** The whole from its pieces: each message is written beside the first, the only other one that it sees. */
function renderPieces(
  run: RunTemplate,
  { head, tail }: MessageWiseTemplate,
  turns: readonly unknown[],
  addGenerationPrompt: boolean,
  pieces: GrowthMemo<string>,
): string {
  const [first, ...others] = turns
  pieces.begin(JSON.stringify(first))
  const start = pieces.of('first', () => run(head, turns.slice(0, 1), addGenerationPrompt))
  const texts = others.map((turn) =>
    pieces.of(JSON.stringify(turn), () => run(head, [first, turn], addGenerationPrompt).slice(start.length)),
  )
  return start + texts.join('') + run(tail, turns.slice(0, 1), addGenerationPrompt)
}

type RunTemplate = (
  program: Program,
  messages: readonly unknown[],
  addGenerationPrompt: boolean,
  variables?: Readonly<Record<string, unknown>>,
) => string

function compile(source: string, name: string): Program {
  if (source.length > MAX_TEMPLATE_CHARACTERS) {
    throw new EngineError('text/template', {
      message: `${name}: the chat template has ${source.length} characters; at most ${MAX_TEMPLATE_CHARACTERS} are read.`,
      hint: 'The file is damaged or not a chat template.',
    })
  }
  return parseSource(source, name)
}

function createRunner(tokens: ChatTemplateTokens, now: () => Date): RunTemplate {
  return (program, messages, addGenerationPrompt, variables) => {
    const names: Record<string, unknown> = {
      ...createTemplateGlobals(now()),
      ...(tokens.bos === undefined ? {} : { bos_token: tokens.bos }),
      ...(tokens.eos === undefined ? {} : { eos_token: tokens.eos }),
      ...(tokens.pad === undefined ? {} : { pad_token: tokens.pad }),
      ...variables,
      messages,
      add_generation_prompt: addGenerationPrompt,
    }
    const environment = new Environment()
    for (const [key, value] of Object.entries(names)) environment.set(key, value)
    return String(new Interpreter(environment).run(program).value)
  }
}

function parseSource(source: string, name: string): Program {
  try {
    return parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))
  } catch (cause) {
    throw new EngineError('text/template', {
      message: `${name}: the chat template cannot be read: ${describeCause(cause)}`,
      hint: 'The template is damaged, or uses Jinja that is not supported; give another one.',
      cause,
    })
  }
}

const PROBE_TEXT = 'probe-7f3a'
const PROBE_USER = 'probe-user'

type RunWhole = (messages: readonly unknown[]) => string

/** A template for strings either fails on a list or prints the list itself, field names and all. */
function takesParts(run: RunWhole): boolean {
  const shown = tryRun(run, [{ role: 'user', content: [{ type: 'text', text: PROBE_TEXT }] }])
  return shown?.includes(PROBE_TEXT) === true && !/["']type["']/.test(shown)
}

function showsSystem(run: RunWhole, form: 'parts' | 'text'): boolean {
  const turns: ChatMessage[] = [
    { role: 'system', content: [{ type: 'text', text: PROBE_TEXT }] },
    { role: 'user', content: [{ type: 'text', text: PROBE_USER }] },
  ]
  return tryRun(run, form === 'parts' ? turns : turns.map(flattenTurn))?.includes(PROBE_TEXT) === true
}

function tryRun(run: RunWhole, messages: readonly unknown[]): string | undefined {
  try {
    return run(messages)
  } catch {
    // A probe that fails has answered the question; real conversations report their errors.
    return undefined
  }
}

function flattenTurn({ role, content }: ChatMessage): { role: string; content: string } {
  const images = content.filter((part) => part.type === 'image').map(() => IMAGE_LINE)
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { role, content: images.join('') + texts.join('\n') }
}

function mergeSystemTurns(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const system = messages
    .filter((message) => message.role === 'system')
    .map((message) => flattenTurn(message).content)
    .join('\n\n')
  if (system === '') return messages.filter((message) => message.role !== 'system')
  const turns = messages.filter((message) => message.role !== 'system')
  const first = turns.findIndex((message) => message.role === 'user')
  if (first < 0) return [{ role: 'user', content: [{ type: 'text', text: system }] }, ...turns]
  return turns.map((message, index) =>
    index === first
      ? { role: message.role, content: prependText(message.content, `${system}\n\n`) }
      : message,
  )
}

/** Puts `text` in front of the first text; images that come before it keep their place. */
function prependText(content: readonly ContentPart[], text: string): readonly ContentPart[] {
  const first = content.findIndex((part) => part.type === 'text')
  if (first < 0) return [...content, { type: 'text', text: text.trimEnd() }]
  return content.map((part, index) =>
    index === first && part.type === 'text' ? { type: 'text', text: text + part.text } : part,
  )
}

function templateError(name: string, cause: unknown): EngineError {
  if (EngineError.isInstance(cause)) return cause
  return new EngineError('text/template', {
    message:
      cause instanceof TemplateRefusal
        ? `${name}: the chat template refuses this conversation: ${cause.message}`
        : `${name}: the chat template failed: ${describeCause(cause)}`,
    hint: 'Check the order of the turns; most templates want user and assistant in turn, the user first.',
    cause,
  })
}
