/** What inspection can find, one row a code; docs/inspect.md lists the same rows. */
import type { EngineError } from '../shared/errors.ts'

/** `error`: the model is not what it should be. `warning`: it may be. `note`: worth knowing. */
export type Severity = 'error' | 'warning' | 'note'

export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  /** What was found, with names and numbers, and what was expected. */
  readonly message: string
  /** The next step. */
  readonly hint: string
  /** The numbers behind it: statistics with their thresholds, names, sizes. */
  readonly evidence: Readonly<Record<string, unknown>>
}

interface CodeRow {
  readonly severity: Severity
  readonly hint: string
}

const FETCH_AGAIN = 'Fetch the file again and compare its SHA-256 with the one its repository states.'
const OTHER_SOURCE = 'Take the model from the people who made it; this copy is not usable.'

export const FINDING_CODES = {
  'file/html-page': {
    severity: 'error',
    hint: 'The download saved a web page, often a login or error page; use the direct link.',
  },
  'file/lfs-pointer': {
    severity: 'error',
    hint: 'Run "git lfs pull" in the repository, or download the file directly.',
  },
  'file/pickle': {
    severity: 'error',
    hint: 'Use the safetensors or GGUF files of the same model; pickle files can run programs and are never opened.',
  },
  'file/empty': { severity: 'error', hint: FETCH_AGAIN },
  'file/wrong-kind': { severity: 'error', hint: 'The file is not what its name says; fetch it again.' },
  'file/not-json': { severity: 'error', hint: 'The download may be incomplete; fetch the file again.' },
  'file/no-config': {
    severity: 'error',
    hint: 'Fetch config.json of the model repository into the folder.',
  },
  'file/no-tokenizer': {
    severity: 'error',
    hint: 'Fetch tokenizer.json and tokenizer_config.json of the model repository into the folder.',
  },
  'file/no-weights': {
    severity: 'error',
    hint: 'Fetch the .safetensors files of the model repository into the folder.',
  },
  'file/missing-shard': {
    severity: 'error',
    hint: 'Put all parts of the model into one folder; fetch the missing ones.',
  },
  'file/several-models': { severity: 'error', hint: 'Name one of the files.' },
  'file/unreadable': { severity: 'error', hint: 'Check the disk, the connection and the permissions.' },
  'format/truncated': { severity: 'error', hint: 'The download is incomplete; fetch the file again.' },
  'format/damaged-header': { severity: 'error', hint: FETCH_AGAIN },
  'format/bad-tensor': { severity: 'error', hint: FETCH_AGAIN },
  'format/tensors-overlap': { severity: 'error', hint: FETCH_AGAIN },
  'format/duplicate-name': { severity: 'error', hint: FETCH_AGAIN },
  'format/unused-bytes': { severity: 'error', hint: FETCH_AGAIN },
  'format/shard-mismatch': {
    severity: 'error',
    hint: 'The parts are of different versions of the model; fetch all of them again.',
  },
  'format/unsafe-file-name': {
    severity: 'error',
    hint: 'Do not use this index; fetch the model from its original source.',
  },
  'config/bad-field': {
    severity: 'error',
    hint: 'The configuration is incomplete or damaged; fetch it again from the model repository.',
  },
  'model/unknown-architecture': {
    severity: 'error',
    hint: 'Onsight runs SmolVLM, SmolVLM2, Idefics3, LLaVA-1.5, Llama, SmolLM2, Qwen2 and Qwen3 models.',
  },
  'model/missing-tensor': {
    severity: 'error',
    hint: 'The weights are incomplete, or config.json belongs to another model.',
  },
  'model/wrong-shape': {
    severity: 'error',
    hint: 'The weights and the configuration belong to different models; fetch both from one release.',
  },
  'model/vocabulary-mismatch': {
    severity: 'error',
    hint: 'config.json or the weights belong to another model; fetch both from one release.',
  },
  'model/unknown-tensors': {
    severity: 'note',
    hint: 'Nothing reads these tensors; they only take space.',
  },
  'model/projector-mismatch': {
    severity: 'error',
    hint: 'Use the mmproj file that was published with this text model (--mmproj FILE).',
  },
  'model/foreign-projector': {
    severity: 'warning',
    hint: 'Use the projector that was trained with this model; ask it about a picture before you trust it.',
  },
  'model/projector-alone': {
    severity: 'note',
    hint: 'Inspect the text model; its projector is found beside it or named with --mmproj.',
  },
  'model/no-projector': {
    severity: 'warning',
    hint: 'Put the mmproj file of the same release beside the model to use pictures.',
  },
  'model/picture-settings': {
    severity: 'error',
    hint: 'Fetch preprocessor_config.json and processor_config.json of the same repository.',
  },
  'weights/untrained-vision': { severity: 'error', hint: OTHER_SOURCE },
  'weights/untrained-projector': { severity: 'error', hint: OTHER_SOURCE },
  'weights/untrained-embedding': { severity: 'error', hint: OTHER_SOURCE },
  'weights/untrained-layers': { severity: 'error', hint: OTHER_SOURCE },
  'weights/untrained-head': { severity: 'error', hint: OTHER_SOURCE },
  'weights/untrained-tensors': {
    severity: 'warning',
    hint: 'Compare with another copy of the model; single matrices were left or put back to random numbers.',
  },
  'weights/initial-norms': {
    severity: 'warning',
    hint: 'Norms and biases all stand where an initialiser puts them; training was short or never happened.',
  },
  'weights/untrained-tokens': {
    severity: 'warning',
    hint: 'The tokens of the chat template were never trained: this looks like a base model with a template added.',
  },
  'weights/not-finite': {
    severity: 'error',
    hint: 'The file is damaged or training diverged; take another copy.',
  },
  'weights/absurd-values': {
    severity: 'error',
    hint: 'The bytes are damaged or of another type than stated; fetch or convert the file again.',
  },
  'weights/all-zero': {
    severity: 'error',
    hint: 'A part of the file was never written; fetch or convert it again.',
  },
  'weights/bad-block-scale': {
    severity: 'error',
    hint: 'Blocks are damaged or were quantised from damaged weights; fetch or convert the file again.',
  },
  'weights/identical-tensors': {
    severity: 'warning',
    hint: 'One layer stands in for another; compare with another copy of the model.',
  },
  'text/tokenizer-unreadable': {
    severity: 'error',
    hint: 'Fetch tokenizer.json and tokenizer_config.json again from the model repository.',
  },
  'text/tokenizer-mismatch': {
    severity: 'error',
    hint: 'The tokenizer belongs to another model; fetch all files from one release.',
  },
  'text/no-image-token': {
    severity: 'error',
    hint: 'Pictures have no place in prompts; use the tokenizer that was published with the vision model.',
  },
  'text/no-chat-template': {
    severity: 'warning',
    hint: 'A built-in template is used, which the model may not know; an instruct model brings its own.',
  },
  'text/bad-chat-template': { severity: 'error', hint: 'Fetch the chat template again from the repository.' },
  'text/missing-special-token': {
    severity: 'error',
    hint: 'Tokenizer and chat template belong to different models; fetch both from one release.',
  },
  'text/no-stop-token': {
    severity: 'error',
    hint: 'Answers would never end; use the tokenizer files of the original repository.',
  },
  'name/claims-vision': {
    severity: 'error',
    hint: 'Despite its name this is a text model; for pictures take one with a vision tower and a projector.',
  },
  'name/claims-instruct': {
    severity: 'error',
    hint: 'Despite its name this is a base model, which continues texts; take the instruct release.',
  },
  'name/claims-size': {
    severity: 'error',
    hint: 'The file is not the model that its name says; take it from the people who made it.',
  },
} as const satisfies Record<`${string}/${string}`, CodeRow>

export type FindingCode = keyof typeof FINDING_CODES

/** Collects findings in the order in which they are made; the same one is kept once. */
export class Findings {
  readonly #findings: Finding[] = []

  add(
    code: FindingCode,
    message: string,
    evidence: Readonly<Record<string, unknown>> = {},
    severity: Severity = FINDING_CODES[code].severity,
  ): void {
    if (this.#findings.some((finding) => finding.code === code && finding.message === message)) return
    this.#findings.push({ code, severity, message, hint: FINDING_CODES[code].hint, evidence })
  }

  /** What a reader of the engine refused; its code is kept where it is one of ours. */
  addError(error: EngineError, fallback: FindingCode): void {
    const code = Object.hasOwn(FINDING_CODES, error.code) ? (error.code as FindingCode) : fallback
    this.add(code, error.message, { reason: error.code })
  }

  has(code: FindingCode): boolean {
    return this.#findings.some((finding) => finding.code === code)
  }

  /** Errors first, then warnings, then notes. */
  list(): Finding[] {
    const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 }
    return [...this.#findings].sort((a, b) => rank[a.severity] - rank[b.severity])
  }
}
