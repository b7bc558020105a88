/** The value of `tokenizer.ggml.pre` for the splitting rule of a tokenizer.json. */
import { EngineError } from '../shared/errors.ts'
import { describeValue, isJsonObject, type JsonObject } from '../text/json-fields.ts'
import { GGUF_RULES } from '../text/tokenizer/gguf-rules.ts'
import { GPT2_PATTERN } from '../text/tokenizer/text-splitting.ts'

/** Steps of a rule; those of published models have three at most. */
const MAX_STEPS = 16

/**
 * @param root Parsed tokenizer.json of a byte-level BPE tokenizer.
 * @throws EngineError `text/unsupported-pre-tokenizer` for a rule that GGUF has no name for here.
 */
export function preTokenizerName(root: JsonObject, file: string): string {
  const patterns = readPatterns(root['pre_tokenizer'], file)
  const composes = readComposes(root['normalizer'], file)
  const model = root['model']
  const ignoresMerges = isJsonObject(model) && model['ignore_merges'] === true
  const rule = GGUF_RULES.find(
    (candidate) =>
      candidate.patterns.length === patterns.length &&
      candidate.patterns.every((pattern, index) => pattern === patterns[index]) &&
      candidate.composes === composes &&
      candidate.ignoresMerges === ignoresMerges,
  )
  if (rule) return rule.names[0] as string
  throw unsupported(
    file,
    `splits text by ${patterns.map((pattern) => describeValue(pattern)).join(', then ')}` +
      `${composes ? ' after NFC' : ''}${ignoresMerges ? ', taking whole tokens before merging' : ''}`,
  )
}

/** All splitting steps as expressions; the spelling in bytes comes last. */
function readPatterns(value: unknown, file: string): string[] {
  const steps = isJsonObject(value) && value['type'] === 'Sequence' ? value['pretokenizers'] : [value]
  if (!Array.isArray(steps) || steps.length > MAX_STEPS)
    throw unsupported(file, 'has an unreadable pre_tokenizer')
  const patterns: string[] = []
  for (const [index, step] of steps.entries()) {
    const type = isJsonObject(step) ? step['type'] : undefined
    const fields = isJsonObject(step) ? step : {}
    const pattern = isJsonObject(fields['pattern']) ? fields['pattern']['Regex'] : undefined
    if (type === 'Digits' && fields['individual_digits'] === true) patterns.push('\\p{N}')
    else if (
      type === 'Split' &&
      typeof pattern === 'string' &&
      fields['behavior'] === 'Isolated' &&
      fields['invert'] !== true
    )
      patterns.push(pattern)
    else if (type === 'ByteLevel' && fields['add_prefix_space'] !== true && index === steps.length - 1) {
      if (fields['use_regex'] !== false) patterns.push(GPT2_PATTERN)
    } else
      throw unsupported(file, `has the pre-tokenizer step ${describeValue(type)} in a form that is not known`)
  }
  return patterns
}

function readComposes(value: unknown, file: string): boolean {
  if (value === null || value === undefined) return false
  if (isJsonObject(value) && value['type'] === 'NFC') return true
  throw unsupported(file, `has the normalizer ${describeValue(isJsonObject(value) ? value['type'] : value)}`)
}

function unsupported(file: string, what: string): EngineError {
  return new EngineError('text/unsupported-pre-tokenizer', {
    message: `${file} ${what}; GGUF names are known for ${GGUF_RULES.map(({ names }) => names[0]).join(', ')}.`,
    hint: 'Under another name the model would be given other tokens than it was trained on, so nothing is written.',
  })
}
