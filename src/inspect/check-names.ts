/** What a model's names claim, against what is in it. */
import type { Findings } from './finding.ts'

export interface NamedContents {
  /** Every name that the model goes by: of its folder or file, and the ones inside. */
  readonly names: readonly string[]
  /** Over all tensors that were found. */
  readonly parameters: number
  readonly hasVision: boolean
  /** A GGUF text model without its mmproj: the other half may be elsewhere. */
  readonly isTextHalf: boolean
  /** The vocabulary has the tokens that stand for pictures; undefined without a tokenizer. */
  readonly hasImageToken: boolean | undefined
  readonly hasChatTemplate: boolean
  /** Parts could not be read, so that parameters are missing from the sum. */
  readonly isIncomplete: boolean
}

const VISION = /(^|[^a-z])(vl|vlm|vision|visual|llava|idefics\d?|multimodal|image-text)([^a-z]|$)|smolvlm/i
const INSTRUCT = /(^|[^a-z])(instruct|chat|it|assistant)([^a-z]|$)/i
/** `135M`, `2.2B`; `8x7B` and `A3B` (active parameters) count otherwise. */
const SIZE = /(?<![a-z0-9.])(\d+(?:\.\d+)?) ?([MB])(?![a-z0-9])/gi
const UNIT: Readonly<Record<string, number>> = { M: 1e6, B: 1e9 }
/**
 * Names round, and leave out embeddings or count them twice: Llama-3.2-1B has 1.24, gemma-7b 8.5, Qwen3-0.6B 0.6.
 * Without its vision tower SmolVLM-256M has 0.64 of its name, so the lower limit is further down for a text half.
 */
const SIZE_LIMITS = { least: 0.65, leastOfHalf: 0.5, most: 1.5 }

export function checkNames(contents: NamedContents, findings: Findings): void {
  checkVision(contents, findings)
  checkInstruct(contents, findings)
  checkSize(contents, findings)
}

function checkVision(contents: NamedContents, findings: Findings): void {
  const name = contents.names.find((candidate) => VISION.test(candidate))
  const { hasVision, isTextHalf, hasImageToken, isIncomplete } = contents
  if (hasVision || isIncomplete) return
  if (isTextHalf && hasImageToken === true) {
    findings.add(
      'model/no-projector',
      'The vocabulary has image tokens, but no projector (mmproj) was found: pictures are off.',
    )
    return
  }
  if (name === undefined) return
  findings.add(
    'name/claims-vision',
    `"${name}" claims a vision model, but there is no vision tower and no projector${hasImageToken === false ? ', and the vocabulary has no <image> token' : ''}.`,
    { name, hasVision, hasImageToken },
  )
}

function checkInstruct({ names, hasChatTemplate, isIncomplete }: NamedContents, findings: Findings): void {
  const name = names.find((candidate) => INSTRUCT.test(candidate))
  if (name === undefined || hasChatTemplate || isIncomplete) return
  findings.add(
    'name/claims-instruct',
    `"${name}" claims a model that follows instructions, but it has no chat template.`,
    { name },
  )
}

/** Of several sizes in the names one that fits is enough: names also count training tokens. */
function checkSize({ names, parameters, isTextHalf, isIncomplete }: NamedContents, findings: Findings): void {
  if (parameters === 0 || isIncomplete) return
  const claims = names.flatMap((name) =>
    [...name.matchAll(SIZE)].map(([text, number, unit]) => ({
      text,
      name,
      ratio: parameters / (Number(number) * (UNIT[unit?.toUpperCase() ?? ''] ?? 1)),
    })),
  )
  const least = isTextHalf ? SIZE_LIMITS.leastOfHalf : SIZE_LIMITS.least
  const [first] = claims
  if (!first || claims.some(({ ratio }) => ratio >= least && ratio <= SIZE_LIMITS.most)) return
  findings.add(
    'name/claims-size',
    `"${first.name}" claims ${first.text} parameters, but there are ${(parameters / 1e6).toFixed(1)}M.`,
    { name: first.name, claimed: first.text, parameters, ratio: first.ratio, least, most: SIZE_LIMITS.most },
  )
}
