/** Embeddings as OpenAI has them: the body of a request, and of its answer. */
import type { Embedding } from '../engine/types.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

export interface EmbeddingsRequest {
  /** Undefined for the only or first model. */
  readonly model: string | undefined
  readonly texts: readonly string[]
  readonly encoding: (typeof ENCODINGS)[number]
  /** How many numbers the client expects. */
  readonly dimensions: number | undefined
}

const TAKEN = ['model', 'input', 'encoding_format', 'dimensions']
const ENCODINGS = ['float', 'base64'] as const
/** As OpenAI's interface. */
const MAX_TEXTS = 2048
const MAX_DIMENSIONS = 2 ** 20

export function parseEmbeddingsRequest(body: unknown): EmbeddingsRequest {
  const fields = new RequestFields(body)
  refuseUnsupported(fields, TAKEN)
  return {
    model: fields.text('model'),
    texts: parseTexts(fields.raw('input')),
    encoding: fields.choice('encoding_format', ENCODINGS) ?? 'float',
    dimensions: fields.number('dimensions', { least: 1, most: MAX_DIMENSIONS, isWhole: true }),
  }
}

function parseTexts(input: unknown): readonly string[] {
  const texts = Array.isArray(input) ? input : [input]
  if (texts.some((one) => typeof one === 'number' || Array.isArray(one))) {
    // Clients make them with vocabularies of OpenAI's models, in which the same numbers mean other words.
    throw unsupportedField('input', 'token ids are not taken, since models differ in them.', 'Send texts.')
  }
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== ''
  if (texts.length > 0 && texts.length <= MAX_TEXTS && texts.every(isText)) return texts
  throw invalidValue('input', `a text that is not empty, or 1 to ${MAX_TEXTS} of them`, input)
}

/** Throws `server/unsupported-parameter` when the vectors are not as long as the client expects. */
export function encodeEmbeddings(
  model: string,
  { encoding, dimensions }: EmbeddingsRequest,
  embeddings: readonly Embedding[],
): object {
  const length = embeddings[0]?.vector.length
  if (dimensions !== undefined && dimensions !== length) {
    throw unsupportedField(
      'dimensions',
      `vectors of this model have ${length} numbers and cannot be shortened.`,
    )
  }
  const tokens = embeddings.reduce((sum, one) => sum + one.tokens, 0)
  return {
    object: 'list',
    data: embeddings.map(({ vector }, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'base64' ? toBase64(vector) : [...vector],
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** Four bytes a number, the lowest first. */
function toBase64(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true)
  const bytes = new Uint8Array(view.buffer)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
