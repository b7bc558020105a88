/** Random blocks of any quantised type whose values are about as large as a model's weights. */
import { decodeBlocks } from '../../src/quant/decode.ts'
import { floatToHalf } from '../../src/quant/half.ts'
import { byteLengthOf, TENSOR_TYPES, type TensorType } from '../../src/quant/tensor-types.ts'
import type { SeededRandom } from './seeded-random.ts'

/** Where a block holds its f16 scale; where its f16 minimum, and which share of the scale brings the mean to zero. */
const SCALES: Partial<Record<TensorType, readonly [scale: number, minimum?: number, share?: number]>> = {
  Q4_0: [0],
  Q4_1: [0, 2, -7.5],
  Q5_0: [0],
  Q5_1: [0, 2, -15.5],
  Q8_0: [0],
  Q2_K: [80, 82, 1.5],
  Q3_K: [108],
  Q4_K: [0, 2, 7.5],
  Q5_K: [0, 2, 15.5],
  Q6_K: [208],
  IQ4_NL: [0],
  IQ4_XS: [0],
}

/** Every bit of a block is random but those of its scales, which give the values the standard deviation asked for. */
export function randomBlocks(
  type: TensorType,
  elements: number,
  deviation: number,
  random: SeededRandom,
): Uint8Array {
  const bytes = Uint8Array.from({ length: byteLengthOf(type, elements) }, () => random.below(256))
  const { blockBytes } = TENSOR_TYPES[type]
  if (type === 'MXFP4') {
    // An exponent: values are up to 12 halves of 2^(e - 127), about 2.9 on average.
    const exponent = 127 + Math.round(Math.log2(deviation / 2.9))
    for (let at = 0; at < bytes.length; at += blockBytes) bytes[at] = exponent + random.below(2)
    return bytes
  }
  const place = SCALES[type]
  if (place === undefined) throw new Error(`Where ${type} holds its scale is not known here.`)
  const [scaleAt, minimumAt, share = 0] = place
  const view = new DataView(bytes.buffer)
  const setScales = (choose: () => number): void => {
    for (let at = 0; at < bytes.length; at += blockBytes) {
      const scale = choose()
      view.setUint16(at + scaleAt, floatToHalf(scale), true)
      if (minimumAt !== undefined) view.setUint16(at + minimumAt, floatToHalf(scale * share), true)
    }
  }
  setScales(() => 1)
  const values = new Float32Array(elements)
  decodeBlocks(type, bytes, values)
  const measured = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / elements)
  setScales(() => (deviation / measured) * (0.5 + random.uniform()))
  return bytes
}
