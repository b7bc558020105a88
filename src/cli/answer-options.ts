/** The options that describe and chat share, and what they mean to the engine. */
import { type Command, Option } from 'commander'
import type {
  ChatOptions,
  Detail,
  GenerationOptions,
  KvName,
  LoadModelOptions,
  PrecisionName,
  WhenFull,
} from '../engine/types.ts'
import {
  byteCount,
  collectTexts,
  differentTexts,
  numberThat,
  someText,
  wholeNumber,
} from './option-values.ts'
import type { TerminalOptions } from './terminal.ts'

const KV_NAMES: readonly KvName[] = ['f16', 'q8', 'f32']
const PRECISIONS: readonly PrecisionName[] = ['f32', 'q8', 'q4', 'auto']
/** What the generator of random numbers takes. */
const MAX_SEED = 2 ** 32 - 1
const WHEN_FULL: readonly WhenFull[] = ['drop-oldest', 'summarise', 'stop']
const SPECULATION: readonly NonNullable<GenerationOptions['speculation']>[] = ['auto', 'off']
const DETAILS: readonly Detail[] = ['low', 'auto', 'high']

export interface ModelOptions {
  readonly model?: string
  readonly mmproj?: string
  readonly precision?: PrecisionName
  readonly kv?: KvName
  readonly threads?: number
  readonly imageTokens?: number
  readonly memoryLimit?: number
}

export interface AnswerOptions extends ModelOptions, TerminalOptions {
  readonly ask?: string
  readonly system?: string
  readonly whenFull?: WhenFull
  readonly detail?: Detail
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topK?: number
  readonly topP?: number
  readonly minP?: number
  readonly repetitionPenalty?: number
  readonly seed?: number
  readonly stop?: readonly string[]
  readonly ignoreEos?: boolean
  readonly speculation?: GenerationOptions['speculation']
  /** Path of a file. */
  readonly schema?: string
  readonly choices?: readonly string[]
  readonly json?: boolean
}

export function addAnswerOptions(command: Command): Command {
  command
    .option(
      '-m, --model <model>',
      'folder, .gguf file or pulled model (default: tiny, the bundled one)',
      someText,
    )
    .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
    .option('-a, --ask <text>', 'what to ask; describe asks for a description when it is left out', someText)
    .option('--system <text>', 'system prompt')
    .addOption(
      new Option(
        '--when-full <policy>',
        'when the conversation is as long as the context (default: drop-oldest)',
      ).choices(WHEN_FULL),
    )
    .addOption(precisionOption('auto: q8 for safetensors, .gguf files as they are'))
    .addOption(kvOption())
    .addOption(detailOption('how closely to look at pictures (default: auto, by their size)'))
    .option(
      '-n, --max-tokens <count>',
      "most tokens of an answer (default: the model's, else 512)",
      wholeNumber(1),
    )
    .option('--temperature <number>', '0 takes the likeliest token always', upToHundred)
    .option('--top-k <count>', 'draw from the k likeliest tokens; 0 means all', wholeNumber(0))
    .option('--top-p <share>', 'draw from the likeliest tokens that reach this probability', probability)
    .option('--min-p <share>', "leave out tokens below this share of the likeliest's probability", share)
    .option('--repetition-penalty <number>', 'above 1 makes repeated tokens less likely', aboveZero)
    .option('--seed <number>', 'same seed, same text', wholeNumber(0, MAX_SEED))
    .option('--stop <text>', 'ends the answer where it appears; may be given several times', collectTexts)
    .option('--ignore-eos', "go on after the model's stop tokens")
    .addOption(
      new Option(
        '--speculation <mode>',
        'off: never compute guessed tokens ahead; changes the speed only (default: auto)',
      ).choices(SPECULATION),
    )
    .addOption(
      new Option('--schema <file>', 'the answer is JSON that satisfies the JSON Schema of this file')
        .argParser(someText)
        .conflicts(['choices', 'stop', 'ignoreEos']),
    )
    .addOption(
      new Option('--choices <texts>', 'the answer is one of these, separated by commas')
        .argParser(differentTexts)
        .conflicts(['stop', 'ignoreEos']),
    )
    .addOption(imageTokensOption())
    .addOption(memoryLimitOption())
    .addOption(threadsOption())
    .option('--json', 'print one JSON object a turn instead of text')
  return addTerminalOptions(command)
}

export function addTerminalOptions(command: Command): Command {
  return command
    .option('-q, --quiet', 'no notes and no progress')
    .option('--plain', 'progress in plain lines, nothing redrawn; for screen readers')
    .option('--debug', 'show where an error came from')
    .option('--no-color', 'no colours; NO_COLOR in the environment does the same')
}

export function precisionOption(description: string): Option {
  return new Option('--precision <name>', description).choices(PRECISIONS)
}

export function kvOption(): Option {
  return new Option(
    '--kv <name>',
    'how keys and values of conversations are kept (default: f16; f32 with --precision f32)',
  ).choices(KV_NAMES)
}

export function detailOption(description: string): Option {
  return new Option('--detail <level>', description).choices(DETAILS)
}

export function imageTokensOption(): Option {
  return new Option(
    '--image-tokens <count>',
    'most tokens of a picture (default: what its detail asks for)',
  ).argParser(wholeNumber(1))
}

export function memoryLimitOption(): Option {
  return new Option(
    '--memory-limit <size>',
    'most memory of the whole process, such as 600MB; what it is used for is printed (default: none)',
  ).argParser(byteCount)
}

export function threadsOption(): Option {
  return new Option('--threads <count>', 'compute threads (default: what suits the machine)').argParser(
    wholeNumber(1),
  )
}

const upToHundred = numberThat('from 0 to 100', (value) => value >= 0 && value <= 100)
const aboveZero = numberThat('above 0 and up to 100', (value) => value > 0 && value <= 100)
const probability = numberThat('above 0 and up to 1', (value) => value > 0 && value <= 1)
const share = numberThat('from 0 to 1', (value) => value >= 0 && value <= 1)

export function loadOptionsOf({
  mmproj,
  precision,
  kv,
  threads,
  imageTokens,
  memoryLimit,
}: ModelOptions): LoadModelOptions {
  return {
    ...(mmproj !== undefined && { projector: mmproj }),
    ...(precision !== undefined && { precision }),
    ...(kv !== undefined && { kv }),
    ...(threads !== undefined && { threads }),
    ...(imageTokens !== undefined && { imageTokens }),
    ...(memoryLimit !== undefined && { memoryLimit }),
  }
}

export function chatOptionsOf({ system, whenFull }: AnswerOptions): ChatOptions {
  return { ...(system !== undefined && { system }), ...(whenFull !== undefined && { whenFull }) }
}

const GENERATION_KEYS = [
  'maxTokens',
  'temperature',
  'topK',
  'topP',
  'minP',
  'repetitionPenalty',
  'seed',
  'stop',
  'ignoreEos',
  'speculation',
  'choices',
  'detail',
] as const satisfies readonly (keyof AnswerOptions & keyof GenerationOptions)[]

/** Only what was given, so that the model's own defaults hold for the rest. */
export function generationOptionsOf(options: AnswerOptions): GenerationOptions {
  return Object.fromEntries(
    GENERATION_KEYS.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]),
  )
}

/** Whether sampling options were given that do nothing, as no temperature is set here or by the model. */
export function hasIdleSampling(options: AnswerOptions, defaults: GenerationOptions): boolean {
  if ((options.temperature ?? defaults.temperature ?? 0) > 0) return false
  return [options.topK, options.topP, options.minP, options.seed].some((value) => value !== undefined)
}
