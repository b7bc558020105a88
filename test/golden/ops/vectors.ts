import { readFileSync } from 'node:fs'

interface StoredArray {
  type: 'float32' | 'float64' | 'float16' | 'int8' | 'int32' | 'uint8'
  base64: string
}

type Stored = Record<string, { numbers: Record<string, number>; arrays: Record<string, StoredArray> }>

const stored = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8')) as Stored

/** One vector of make_op_vectors.py: its numbers, and the bytes of its arrays. */
export interface OpVector {
  number(name: string): number
  bytes(name: string): Uint8Array<ArrayBuffer>
  floats(name: string): Float32Array
  doubles(name: string): Float64Array
}

export function opVector(name: string): OpVector {
  const { numbers, arrays } = stored[name]!
  const bytes = (array: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.from(arrays[array]!.base64, 'base64'))
  return {
    number: (key) => numbers[key]!,
    bytes,
    floats: (array) => new Float32Array(bytes(array).buffer),
    doubles: (array) => new Float64Array(bytes(array).buffer),
  }
}
