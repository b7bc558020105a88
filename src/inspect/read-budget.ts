/** How much of a model's weights is read. */
import { FULL_SAMPLE, type SampleSize } from './matrix-sample.ts'

export interface ReadBudget {
  /** Most bytes of each tensor whose values are looked at. */
  readonly probeBytes: number
  /** Only matrices that are measured are looked at, single ones get no second look. */
  readonly isSparing: boolean
  /** Most matrices of each part that are measured. */
  readonly matrices: number
  readonly sample: SampleSize
}

/** Every byte, every matrix. */
const WHOLE: ReadBudget = {
  probeBytes: Number.MAX_SAFE_INTEGER,
  isSparing: false,
  matrices: Number.MAX_SAFE_INTEGER,
  sample: FULL_SAMPLE,
}

/** Stretches of every tensor: 30 to 50 MB of a model of some hundred tensors. */
const STRETCHES: ReadBudget = {
  probeBytes: 64 * 2 ** 10,
  isSparing: false,
  matrices: 14,
  sample: FULL_SAMPLE,
}

/** One request of half a megabyte a matrix, about 20 MB. */
const SPARING: ReadBudget = {
  probeBytes: 2 ** 19,
  isSparing: true,
  matrices: 10,
  sample: { elements: 2 ** 18, places: 1 },
}

/** Models up to here are read whole in any case, which takes seconds. */
const WHOLE_BYTES = 256 * 2 ** 20

export function chooseBudget(
  weightBytes: number,
  {
    deep = false,
    sparing = false,
  }: { readonly deep?: boolean | undefined; readonly sparing?: boolean | undefined },
): ReadBudget {
  if (deep) return WHOLE
  if (sparing) return SPARING
  return weightBytes <= WHOLE_BYTES ? WHOLE : STRETCHES
}

export function isWhole({ probeBytes }: ReadBudget): boolean {
  return probeBytes === WHOLE.probeBytes
}
