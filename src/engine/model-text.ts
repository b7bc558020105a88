/** The text side of a model: tokenizer, chat template, stop tokens, generation defaults. */

import type { ModelConfig } from '../models/model-config.ts'
import { EngineError } from '../shared/errors.ts'
import { type ChatTemplate, createChatTemplate } from '../text/chat-template/chat-template.ts'
import { fallbackChatTemplate, findChatTemplate } from '../text/chat-template/find-chat-template.ts'
import { IMAGE_PLACEHOLDER } from '../text/image-prompt.ts'
import { isJsonObject } from '../text/json-fields.ts'
import { createNeutralizer } from '../text/neutralize.ts'
import { findStopTokens } from '../text/stop-tokens.ts'
import {
  createTokenizerFromGguf,
  createTokenizerFromJson,
  type Tokenizer,
} from '../text/tokenizer/tokenizer.ts'
import type { OptionRule } from './check-options.ts'
import { GENERATION_RULES } from './generation-options.ts'
import type { JsonFiles } from './json-files.ts'
import type { OpenedCheckpoint } from './open-checkpoint.ts'
import type { GenerationOptions } from './types.ts'

export interface ModelText {
  readonly tokenizer: Tokenizer
  readonly template: ChatTemplate
  /** Makes what people type harmless: nothing in it acts as a control token or as a picture's place. */
  readonly neutralize: (text: string) => string
  readonly stopTokens: ReadonlySet<number>
  readonly defaults: GenerationOptions
  readonly warnings: readonly string[]
}

export async function loadModelText(
  { checkpoint, files }: OpenedCheckpoint,
  config: ModelConfig,
): Promise<ModelText> {
  if (checkpoint.container === 'gguf') {
    const { metadata, source } = checkpoint.text
    const tokenizer = createTokenizerFromGguf(metadata, source.name)
    const strange = checkVocabulary(tokenizer, config, source.name)
    const { template, warnings } = buildTemplate(tokenizer, config, {
      ggufTemplate: metadata.get('tokenizer.chat_template'),
    })
    const stopTokens = findStopTokens({ tokenizer, ggufMetadata: metadata })
    return {
      tokenizer,
      template,
      neutralize: createTextNeutralizer(tokenizer),
      stopTokens,
      defaults: {},
      warnings: [...tokenizer.warnings, ...strange, ...warnings],
    }
  }
  return loadFromFiles(files as JsonFiles, checkpoint.config, config)
}

async function loadFromFiles(files: JsonFiles, rawConfig: unknown, config: ModelConfig): Promise<ModelText> {
  const tokenizerConfig = await files.read('tokenizer_config.json')
  const generationConfig = await files.read('generation_config.json')
  const name = files.label('tokenizer.json')
  const tokenizer = createTokenizerFromJson(await files.require('tokenizer.json'), tokenizerConfig, name)
  const strange = checkVocabulary(tokenizer, config, name)
  checkImageToken(tokenizer, rawConfig, config, name)
  const { template, warnings } = buildTemplate(tokenizer, config, {
    chatTemplateJinja: await files.readText('chat_template.jinja'),
    chatTemplateJson: await files.read('chat_template.json'),
    tokenizerConfig,
  })
  const stopTokens = findStopTokens({ tokenizer, generationConfig, config: rawConfig })
  const defaults = parseGenerationConfig(generationConfig)
  return {
    tokenizer,
    template,
    neutralize: createTextNeutralizer(tokenizer),
    stopTokens,
    defaults,
    warnings: [...tokenizer.warnings, ...strange, ...warnings],
  }
}

function createTextNeutralizer({ specialTokens }: Tokenizer): (text: string) => string {
  return createNeutralizer([...specialTokens, IMAGE_PLACEHOLDER])
}

function buildTemplate(
  tokenizer: Tokenizer,
  config: ModelConfig,
  files: Parameters<typeof findChatTemplate>[0],
): { template: ChatTemplate; warnings: string[] } {
  const found = findChatTemplate(files)
  const { source, name } = found ?? fallbackChatTemplate(fallbackKind(config))
  const template = createChatTemplate(source, name, { bos: tokenizer.bosToken, eos: tokenizer.eosToken })
  return { template, warnings: found ? [] : [`The model has no chat template; the ${name} is used.`] }
}

function fallbackKind({ projector }: ModelConfig): Parameters<typeof fallbackChatTemplate>[0] {
  if (!projector) return 'chatml'
  return projector.kind === 'pixel-shuffle' ? 'idefics3' : 'llava'
}

/** Models round their embeddings up by a few percent at most; a tokenizer far smaller than that is hardly theirs. */
const LEAST_VOCABULARY_SHARE = 0.9

/** A tokenizer of another model shows in ids that the embedding matrix does not have. Returns what is merely strange. */
function checkVocabulary(tokenizer: Tokenizer, { decoder }: ModelConfig, name: string): string[] {
  if (tokenizer.vocabSize > decoder.vocabSize) {
    throw new EngineError('model/tokenizer-mismatch', {
      message: `${name} has token ids up to ${tokenizer.vocabSize - 1}, but the model has embeddings for ${decoder.vocabSize} tokens.`,
      hint: 'The tokenizer belongs to another model; fetch the files of one release.',
    })
  }
  if (tokenizer.vocabSize >= decoder.vocabSize * LEAST_VOCABULARY_SHARE) return []
  return [
    `${name} has ${tokenizer.vocabSize} tokens, but the model has embeddings for ${decoder.vocabSize}; the tokenizer may belong to another model.`,
  ]
}

/** The configuration names the id of the image token, which another tokenizer has elsewhere. */
function checkImageToken(
  tokenizer: Tokenizer,
  rawConfig: unknown,
  { projector }: ModelConfig,
  name: string,
): void {
  const fields = isJsonObject(rawConfig) ? rawConfig : {}
  const stated = fields['image_token_id'] ?? fields['image_token_index']
  const found = tokenizer.tokenToId(IMAGE_PLACEHOLDER)
  if (!projector || typeof stated !== 'number' || stated === found) return
  throw new EngineError('model/tokenizer-mismatch', {
    message: `${name}: expected "${IMAGE_PLACEHOLDER}" to be token ${stated}, as config.json says; found ${found ?? 'no such token'}.`,
    hint: 'The tokenizer belongs to another model; fetch the files of one release.',
  })
}

/** What generation_config.json sets; sampling counts only where it says `do_sample`. Values that cannot be are passed over. */
export function parseGenerationConfig(value: unknown): GenerationOptions {
  if (!isJsonObject(value)) return {}
  const take = (key: string, rule: OptionRule): number | undefined =>
    rule.accepts(value[key]) ? (value[key] as number) : undefined
  const maxTokens = take('max_new_tokens', GENERATION_RULES.maxTokens)
  const repetitionPenalty = take('repetition_penalty', GENERATION_RULES.repetitionPenalty)
  // The reference's defaults once it samples.
  const draw =
    value['do_sample'] === true
      ? {
          temperature: take('temperature', GENERATION_RULES.temperature) ?? 1,
          topK: take('top_k', GENERATION_RULES.topK) ?? 50,
          topP: take('top_p', GENERATION_RULES.topP) ?? 1,
          minP: take('min_p', GENERATION_RULES.minP) ?? 0,
        }
      : {}
  return {
    ...draw,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(repetitionPenalty === undefined ? {} : { repetitionPenalty }),
  }
}
