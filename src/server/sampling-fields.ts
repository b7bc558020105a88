/** Fields that say how an answer is made, the same on all routes. Without one, the model's own default holds. */
import type { GenerationOptions } from '../engine/types.ts'
import { invalidValue, type RequestFields } from './request-fields.ts'

export const SAMPLING_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'seed',
  'stop',
] as const

/** The engine's generator takes 32 bits. */
const SEEDS = 2 ** 32
/** OpenAI takes 4; every one is looked for at every token. */
const MAX_STOPS = 16
/** Far longer than any real one: held back text must stay short. */
const MAX_STOP_LENGTH = 1000

/** What the engine counts for each token. */
export const MAX_TOP_LOGPROBS = 20

const SHARE = { least: 0, most: 1 }
const COUNT = { least: 0, most: 2 ** 31, isWhole: true }

export function parseSampling(fields: RequestFields): GenerationOptions {
  const topP = fields.number('top_p', SHARE)
  const seed = fields.number('seed', {
    least: Number.MIN_SAFE_INTEGER,
    most: Number.MAX_SAFE_INTEGER,
    isWhole: true,
  })
  return withoutUndefined({
    temperature: fields.number('temperature', { least: 0, most: 100 }),
    // 0 leaves the likeliest token only, which the smallest positive number does.
    topP: topP === 0 ? Number.MIN_VALUE : topP,
    topK: fields.number('top_k', COUNT),
    minP: fields.number('min_p', SHARE),
    repetitionPenalty: fields.number('repetition_penalty', { least: 0.01, most: 100 }),
    seed: seed === undefined ? undefined : ((seed % SEEDS) + SEEDS) % SEEDS,
    stop: parseStop(fields),
  })
}

/** The first of `names` that is given. */
export function parseMaxTokens(
  fields: RequestFields,
  names: readonly string[],
): Pick<GenerationOptions, 'maxTokens'> {
  const values = names.map((name) => fields.number(name, { ...COUNT, least: 1 }))
  return withoutUndefined({ maxTokens: values.find((value) => value !== undefined) })
}

function parseStop(fields: RequestFields): readonly string[] | undefined {
  const value = fields.raw('stop')
  if (value === undefined) return undefined
  const stops = Array.isArray(value) ? value : [value]
  const isText = (one: unknown): one is string =>
    typeof one === 'string' && one !== '' && one.length <= MAX_STOP_LENGTH
  if (stops.length <= MAX_STOPS && stops.every(isText)) return stops
  throw invalidValue(
    fields.pathOf('stop'),
    `a text or up to ${MAX_STOPS} texts of 1 to ${MAX_STOP_LENGTH} characters`,
    value,
  )
}

type Given<Options> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> }

function withoutUndefined<Options extends object>(options: Options): Given<Options> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Given<Options>
}
