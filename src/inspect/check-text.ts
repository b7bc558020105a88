/** Tokenizer, chat template and special tokens, against each other and against the embedding. */

import type { JsonFiles } from '../engine/json-files.ts'
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import { EngineError } from '../shared/errors.ts'
import { createChatTemplate } from '../text/chat-template/chat-template.ts'
import { type FoundChatTemplate, findChatTemplate } from '../text/chat-template/find-chat-template.ts'
import { IMAGE_PLACEHOLDER } from '../text/image-prompt.ts'
import { isJsonObject } from '../text/json-fields.ts'
import { findStopTokens } from '../text/stop-tokens.ts'
import {
  createTokenizerFromGguf,
  createTokenizerFromJson,
  type Tokenizer,
} from '../text/tokenizer/tokenizer.ts'
import type { FindingCode, Findings } from './finding.ts'

export interface TextParts {
  readonly tokenizer: Tokenizer | undefined
  readonly template: FoundChatTemplate | undefined
  /** Control tokens that the template writes. */
  readonly turnTokens: readonly number[]
}

export interface TextSubject {
  readonly name: string
  readonly files: JsonFiles
  readonly config: unknown
  readonly text: GgufFile | undefined
  /** Rows of the embedding matrix; undefined when it was not found. */
  readonly embeddingRows: number | undefined
  readonly hasVision: boolean
}

/** Rows are rounded up for speed: to multiples of up to 1024, by at most 2% in the models known. */
const MAX_SPARE_ROWS = { share: 0.04, rounding: 128 }

/** Control tokens as chat templates write them. */
const TURN_TOKEN = /<\|[a-z_0-9]+\|>|<(?:end_of_utterance|start_of_turn|end_of_turn)>/g
/** Without these a turn has no beginning or no end. */
const TURN_MARK = /end|eot|start|header|turn/

export async function checkText(subject: TextSubject, findings: Findings): Promise<TextParts> {
  const { text, files, config } = subject
  const tokenizerConfig = await readJson('tokenizer_config.json')
  const generationConfig = await readJson('generation_config.json')
  const tokenizer = await loadTokenizer(subject, tokenizerConfig, findings)
  const template = await attempt(findings, 'text/bad-chat-template', async () =>
    text
      ? findChatTemplate({ ggufTemplate: text.metadata.get('tokenizer.chat_template') })
      : findChatTemplate({
          chatTemplateJinja: await files.readText('chat_template.jinja'),
          chatTemplateJson: await readJson('chat_template.json'),
          tokenizerConfig,
        }),
  )
  if (!template && !findings.has('text/bad-chat-template')) {
    findings.add('text/no-chat-template', `${subject.name} has no chat template.`)
  }
  if (template) {
    await attempt(findings, 'text/bad-chat-template', async () =>
      createChatTemplate(template.source, template.name, {
        bos: tokenizer?.bosToken,
        eos: tokenizer?.eosToken,
      }),
    )
  }
  if (!tokenizer) return { tokenizer, template, turnTokens: [] }
  checkVocabulary(tokenizer, subject, findings)
  if (subject.hasVision) checkImageToken(tokenizer, config, subject.name, findings)
  const turns = template ? checkTurnTokens(tokenizer, template, findings) : []
  const stops = findStopTokens({ tokenizer, generationConfig, config, ggufMetadata: text?.metadata })
  if (stops.size === 0) {
    findings.add('text/no-stop-token', `${subject.name}: no token of the vocabulary ends an answer.`)
  }
  return { tokenizer, template, turnTokens: turns }

  async function readJson(fileName: string): Promise<unknown> {
    return text ? undefined : attempt(findings, 'file/not-json', () => files.read(fileName))
  }
}

async function loadTokenizer(
  { name, text, files }: TextSubject,
  tokenizerConfig: unknown,
  findings: Findings,
): Promise<Tokenizer | undefined> {
  return attempt(findings, 'text/tokenizer-unreadable', async () => {
    if (text) {
      if (text.metadata.has('tokenizer.ggml.model'))
        return createTokenizerFromGguf(text.metadata, text.source.name)
      findings.add('file/no-tokenizer', `${name} has no tokenizer: "tokenizer.ggml.model" is missing.`)
      return undefined
    }
    const json = await files.read('tokenizer.json')
    if (json !== undefined)
      return createTokenizerFromJson(json, tokenizerConfig, files.label('tokenizer.json'))
    findings.add('file/no-tokenizer', `${name}: tokenizer.json is missing.`)
    return undefined
  })
}

/** What stands in a file that should be JSON, by the message of whoever tried to read it. */
const WRONG_KINDS: readonly (readonly [RegExp, FindingCode])[] = [
  [/HTML page/, 'file/html-page'],
  [/Git LFS pointer/, 'file/lfs-pointer'],
]

/** What `run` returns; undefined when it refuses, which becomes a finding. */
async function attempt<Result>(
  findings: Findings,
  code: FindingCode,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run()
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    findings.addError(error, WRONG_KINDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? code)
    return undefined
  }
}

function checkVocabulary(
  tokenizer: Tokenizer,
  { name, embeddingRows }: TextSubject,
  findings: Findings,
): void {
  if (embeddingRows === undefined) return
  const { vocabSize } = tokenizer
  const spare = embeddingRows - vocabSize
  const most = Math.max(MAX_SPARE_ROWS.rounding, Math.ceil(embeddingRows * MAX_SPARE_ROWS.share))
  if (spare >= 0 && spare <= most) return
  findings.add(
    'text/tokenizer-mismatch',
    spare < 0
      ? `${name}: the tokenizer has ids up to ${vocabSize - 1}, but the embedding only ${embeddingRows} rows.`
      : `${name}: the tokenizer has ${vocabSize} tokens, but the embedding ${embeddingRows} rows; at most ${most} spare rows are usual.`,
    { tokens: vocabSize, embeddingRows, spareLimit: most },
  )
}

function checkImageToken(tokenizer: Tokenizer, config: unknown, name: string, findings: Findings): void {
  const id = tokenizer.tokenToId(IMAGE_PLACEHOLDER)
  if (id === undefined) {
    findings.add(
      'text/no-image-token',
      `${name}: the model takes pictures, but its vocabulary has no ${IMAGE_PLACEHOLDER} token.`,
    )
    return
  }
  const stated = isJsonObject(config) ? (config['image_token_id'] ?? config['image_token_index']) : undefined
  if (typeof stated !== 'number' || stated === id) return
  findings.add(
    'text/tokenizer-mismatch',
    `${name}: config.json says that token ${stated} stands for pictures, but in the vocabulary ${IMAGE_PLACEHOLDER} is ${id} and ${stated} is ${JSON.stringify(tokenizer.idToToken(stated) ?? null)}.`,
    { stated, found: id },
  )
}

/** Ids of the control tokens that a template writes. */
function checkTurnTokens(tokenizer: Tokenizer, template: FoundChatTemplate, findings: Findings): number[] {
  const written = [...new Set(template.source.match(TURN_TOKEN) ?? [])]
  const missing = written.filter((token) => tokenizer.tokenToId(token) === undefined)
  const marks = missing.filter((token) => TURN_MARK.test(token))
  if (marks.length > 0) {
    findings.add(
      'text/missing-special-token',
      `The chat template (${template.name}) writes ${marks.join(', ')}, which the vocabulary does not have.`,
      { missing: marks, template: template.name },
    )
  }
  return written.map((token) => tokenizer.tokenToId(token)).filter((id) => id !== undefined)
}
