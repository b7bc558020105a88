/** Element-wise comparison of results, with a message that helps to find the fault. */
import { halfToFloat } from '../../quant/half.ts'

/** What the compared bytes are: `bytes` must agree in every bit; in the float formats NaN equals NaN. */
export type Format = 'f32' | 'f16' | 'bytes'

/**
 * Results below float32's normal range are multiples of 2^-149, and each step of a sum may round by half of one:
 * no relative tolerance can hold there.
 */
const SUBNORMAL_SLACK = 16 * 2 ** -149

interface Elements {
  readonly values: ArrayLike<number>
  /** Bit patterns; elements are identical when these are. */
  readonly bits: ArrayLike<number>
}

/**
 * Compares all elements. Undefined when each |found - expected| is at most `tolerance` times the largest finite
 * |expected|; tolerance 0 asks for identical bits.
 */
export function describeDifference(
  expectedBytes: Uint8Array,
  foundBytes: Uint8Array,
  format: Format,
  tolerance: number,
): string | undefined {
  if (expectedBytes.length !== foundBytes.length) {
    return `expected ${expectedBytes.length} bytes, found ${foundBytes.length}`
  }
  const expected = elementsOf(expectedBytes, format)
  const found = elementsOf(foundBytes, format)
  const count = expected.values.length
  const limit = tolerance === 0 ? 0 : Math.max(tolerance * largestFinite(expected.values), SUBNORMAL_SLACK)

  const wrong: number[] = []
  let worst = -1
  let worstDifference = -1
  for (let i = 0; i < count; i++) {
    const a = expected.values[i]!
    const b = found.values[i]!
    if (expected.bits[i] === found.bits[i] || (Number.isNaN(a) && Number.isNaN(b))) continue
    const difference = Math.abs(a - b)
    if (tolerance !== 0 && difference <= limit) continue
    wrong.push(i)
    const rank = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
    if (rank > worstDifference) {
      worst = i
      worstDifference = rank
    }
  }
  if (worst < 0) return undefined
  return (
    `worst at element ${worst} of ${count}: expected ${expected.values[worst]} (bits ${hex(expected.bits[worst]!)}), ` +
    `found ${found.values[worst]} (bits ${hex(found.bits[worst]!)}), difference ${worstDifference}, ` +
    `allowed ${limit}; ${wrong.length} elements differ, ${describeIndices(wrong, count)}`
  )
}

function elementsOf(bytes: Uint8Array, format: Format): Elements {
  if (format === 'bytes') return { values: bytes, bits: bytes }
  const copy = bytes.slice().buffer
  if (format === 'f32') return { values: new Float32Array(copy), bits: new Uint32Array(copy) }
  const bits = new Uint16Array(copy)
  return { values: Float32Array.from(bits, halfToFloat), bits }
}

function largestFinite(values: ArrayLike<number>): number {
  let largest = 0
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!)
    if (Number.isFinite(magnitude) && magnitude > largest) largest = magnitude
  }
  return largest
}

/** The pattern of wrong indices tells tails, lanes and rows apart. */
function describeIndices(wrong: readonly number[], count: number): string {
  const first = wrong.slice(0, 12).join(', ')
  const where = wrong.length === count ? 'all of them' : `the first ones ${first}`
  return wrong.length > 1 && wrong.at(-1) === count - 1 && wrong[0] === count - wrong.length
    ? `${where} (only the tail: look at the rest loop)`
    : where
}

function hex(bits: number): string {
  return `0x${bits.toString(16)}`
}
