/** Tensors of a safetensors file as numbers, read at once: for vectors and small models in tests. */
import { readFileSync } from 'node:fs'
import { parseSafetensorsHeader } from '../../src/formats/safetensors/parse-header.ts'
import { decodeBlocks } from '../../src/quant/decode.ts'

export interface TensorValues {
  readonly shape: readonly number[]
  readonly data: Float32Array
}

/** Integers become floats, which holds all that the vectors use. */
export function readTensors(path: string): Map<string, TensorValues> {
  const bytes = readFileSync(path)
  const headerLength = Number(bytes.readBigUInt64LE(0))
  const data = bytes.subarray(8 + headerLength)
  const entries = parseSafetensorsHeader(path, bytes.subarray(8, 8 + headerLength), data.byteLength)
  return new Map(
    entries.map(({ name, type, shape, relativeOffset, byteLength }) => {
      const values = new Float32Array(shape.reduce((product, size) => product * size, 1))
      decodeBlocks(type, data.subarray(relativeOffset, relativeOffset + byteLength), values)
      return [name, { shape, data: values }]
    }),
  )
}
