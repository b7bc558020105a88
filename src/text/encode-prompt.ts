import type { Tokenizer } from './tokenizer/tokenizer.ts'

/**
 * Token ids of a finished prompt whose user texts went through `createNeutralizer`: control tokens of the template and
 * the prompt builder act, those typed by a user are read as plain text. Without neutralized parts the ids are those of
 * `tokenizer.encode(prompt)`. Adds no BOS token; templates write their own.
 */
export function encodePrompt(tokenizer: Tokenizer, prompt: string): number[] {
  return tokenizer.encode(prompt, { neutralized: true })
}
