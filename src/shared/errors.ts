/**
 * The one error class of the library. Callers branch on `code`, people read `message` and `hint`.
 * Codes are `area/what`, for example `format/tensor-out-of-bounds`.
 */
const MARKER = Symbol.for('onsight.error')

/** What went wrong, for programs: `area/what`. */
export type ErrorCode = `${ErrorArea}/${string}`

export type ErrorArea =
  | 'option' // an argument of a public call or of the command line
  | 'file' // reading or finding a file
  | 'format' // the bytes of a model file
  | 'config' // a model's configuration or metadata
  | 'model' // parts of a model that do not belong together
  | 'image' // a picture
  | 'audio' // sound: files, rates, microphones
  | 'text' // tokenizer, chat template, prompt
  | 'backend' // kernels, workers, memory
  | 'generation' // context and sampling
  | 'hub' // fetching and storing models
  | 'server' // requests to the local server
  | 'speech' // voices, recognisers and what they are asked
  | 'remote' // requests to somebody else's endpoint
  | 'snapshot' // a saved conversation

export interface EngineErrorOptions {
  /** What failed, what was expected and what was found, with names and numbers. */
  message: string
  /** The next step for the person who reads it. */
  hint?: string
  /** The field of the input that is at fault, as its writer knows it: `messages[0].content`. */
  field?: string
  cause?: unknown
}

/**
 * An expected failure: bad input, a damaged file, a missing feature.
 *
 * @example
 * throw new EngineError('format/tensor-out-of-bounds', {
 *   message: `model.gguf: tensor "output.weight" ends at byte 900, but the file has 800 bytes.`,
 *   hint: 'The download looks incomplete; fetch the file again.',
 * })
 */
export class EngineError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly field: string | undefined
  readonly [MARKER] = true

  constructor(code: ErrorCode, { message, hint, field, cause }: EngineErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EngineError'
    this.code = code
    this.hint = hint
    this.field = field
  }

  /** Works across duplicate copies of this package and across workers' realms. */
  static isInstance(value: unknown): value is EngineError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[MARKER] === true
  }
}
