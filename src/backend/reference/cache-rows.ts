/** Rows of keys and values: stored from float32, and read back. */
import { decodeBlocks } from '../../quant/decode.ts'
import { encodeBlocks } from '../../quant/encode.ts'
import { bfloat16ToFloat } from '../../quant/half.ts'
import type { BufferRef, OpArguments } from '../backend.ts'
import { type CacheType, cacheRowByteLength } from '../cache-rows.ts'
import { bytesAt, floatsAt } from './memory.ts'
import { quantizeTo } from './quantize-rows.ts'

const BLOCK = 32

export function storeRows(args: OpArguments<'storeRows'>): void {
  const { x, out, rows, heads, headDim, headStride } = args
  const type = args.type as CacheType
  const values = floatsAt(x, rows * heads * headDim)
  const rowBytes = cacheRowByteLength(type, headDim)
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads; head++) {
      const at = (row * heads + head) * headDim
      const encoded = encodeCacheRow(type, values.subarray(at, at + headDim))
      bytesAt(rowAt(out, head * headStride + row, rowBytes), rowBytes).set(encoded)
    }
  }
}

/** Row `index` from `ref` on as float32. */
export function readCacheRow(type: CacheType, ref: BufferRef, index: number, columns: number): Float32Array {
  const rowBytes = cacheRowByteLength(type, columns)
  return decodeCacheRow(type, bytesAt(rowAt(ref, index, rowBytes), rowBytes), columns)
}

function rowAt({ buffer, byteOffset }: BufferRef, index: number, rowBytes: number): BufferRef {
  return { buffer, byteOffset: byteOffset + index * rowBytes }
}

export function encodeCacheRow(type: CacheType, values: Float32Array): Uint8Array {
  if (type !== 'Q8_0') return encodeBlocks(type, values)
  const bytes = new Uint8Array(cacheRowByteLength(type, values.length))
  const view = new DataView(bytes.buffer)
  const codes = new Int8Array(bytes.buffer, 0, values.length)
  for (let start = 0; start < values.length; start += BLOCK) {
    const block = values.subarray(start, start + BLOCK)
    const largest = block.reduce((max, value) => Math.max(max, Math.abs(value)), 0) // NaN if there is one
    const scale = bfloat16Above(Math.fround(largest / 127))
    view.setUint16(values.length + (start / BLOCK) * 2, scale, true)
    const inverse = largest > 0 ? Math.fround(1 / bfloat16ToFloat(scale)) : 0
    quantizeTo(codes.subarray(start, start + block.length), block, inverse)
  }
  return bytes
}

function decodeCacheRow(type: CacheType, bytes: Uint8Array, columns: number): Float32Array {
  const out = new Float32Array(columns)
  if (type !== 'Q8_0') {
    decodeBlocks(type, bytes, out)
    return out
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return out.map((_, i) => {
    const scale = bfloat16ToFloat(view.getUint16(columns + Math.floor(i / BLOCK) * 2, true))
    return view.getInt8(i) * scale
  })
}

/** The bits of the smallest bfloat16 that is not below `value`, a float32 that is not negative. */
function bfloat16Above(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0] as number
  return Math.ceil(bits / 0x10000)
}
