/**
 * The splitting rules that `tokenizer.ggml.pre` names. GGUF files name a rule instead of holding it, so the rules stand
 * here, as the models' own tokenizer.json files have them.
 */
import { GPT2_PATTERN } from './text-splitting.ts'

export interface GgufSplittingRule {
  /** Values of `tokenizer.ggml.pre`; the first one is written. */
  readonly names: readonly string[]
  /** Expressions that split the text one after the other, before it is spelled in bytes. */
  readonly patterns: readonly string[]
  /** Unicode NFC first. */
  readonly composes: boolean
  /** A piece that is a token as a whole is not merged. */
  readonly ignoresMerges: boolean
  /** `add_bos_token` where the file does not say. */
  readonly addsBos: boolean
}

/** Words, digits, punctuation and white space as Llama 3 and Qwen split them; they differ in how many digits stay together. */
function wordPattern(digits: string): string {
  return (
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}` +
    '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+'
  )
}

export const GPT2_RULE: GgufSplittingRule = {
  names: ['gpt-2', 'gpt2', 'default'],
  patterns: [GPT2_PATTERN],
  composes: false,
  ignoresMerges: false,
  addsBos: false,
}

export const GGUF_RULES: readonly GgufSplittingRule[] = [
  GPT2_RULE,
  {
    names: ['smollm'],
    patterns: ['\\p{N}', GPT2_PATTERN],
    composes: false,
    ignoresMerges: false,
    addsBos: false,
  },
  {
    names: ['llama-bpe', 'llama3', 'llama-v3'],
    patterns: [wordPattern('\\p{N}{1,3}')],
    composes: false,
    ignoresMerges: true,
    addsBos: true,
  },
  {
    names: ['qwen2', 'deepseek-r1-qwen'],
    patterns: [wordPattern('\\p{N}')],
    composes: true,
    ignoresMerges: false,
    addsBos: false,
  },
]
