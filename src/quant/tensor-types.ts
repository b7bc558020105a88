/**
 * Every element type a model file may name, with its block layout. Types that the engine cannot decode are
 * listed too: their sizes let a file be checked and inspected, and their names let a message say what was found.
 *
 * Ids and sizes: ggml-org/ggml `include/ggml.h` and `src/ggml-common.h`. `U8` and `BOOL` exist in safetensors only.
 */
import { EngineError } from '../shared/errors.ts'

export interface TensorTypeInfo {
  readonly name: TensorType
  /** The id in a GGUF tensor header; undefined for types that GGUF cannot hold. */
  readonly ggmlId: number | undefined
  /** Elements that are stored together. A row is a whole number of blocks. */
  readonly blockLength: number
  readonly blockBytes: number
}

// name: [ggml id, elements per block, bytes per block]
const ROWS = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  Q4_0: [2, 32, 18],
  Q4_1: [3, 32, 20],
  Q5_0: [6, 32, 22],
  Q5_1: [7, 32, 24],
  Q8_0: [8, 32, 34],
  Q8_1: [9, 32, 36],
  Q2_K: [10, 256, 84],
  Q3_K: [11, 256, 110],
  Q4_K: [12, 256, 144],
  Q5_K: [13, 256, 176],
  Q6_K: [14, 256, 210],
  Q8_K: [15, 256, 292],
  IQ2_XXS: [16, 256, 66],
  IQ2_XS: [17, 256, 74],
  IQ3_XXS: [18, 256, 98],
  IQ1_S: [19, 256, 50],
  IQ4_NL: [20, 32, 18],
  IQ3_S: [21, 256, 110],
  IQ2_S: [22, 256, 82],
  IQ4_XS: [23, 256, 136],
  I8: [24, 1, 1],
  I16: [25, 1, 2],
  I32: [26, 1, 4],
  I64: [27, 1, 8],
  F64: [28, 1, 8],
  IQ1_M: [29, 256, 56],
  BF16: [30, 1, 2],
  TQ1_0: [34, 256, 54],
  TQ2_0: [35, 256, 66],
  MXFP4: [39, 32, 17],
  NVFP4: [40, 64, 36],
  Q1_0: [41, 128, 18],
  U8: [undefined, 1, 1],
  BOOL: [undefined, 1, 1],
} as const satisfies Record<string, readonly [number | undefined, number, number]>

export type TensorType = keyof typeof ROWS

/** All types by name. */
export const TENSOR_TYPES: Readonly<Record<TensorType, TensorTypeInfo>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, [ggmlId, blockLength, blockBytes]]) => [
    name,
    { name, ggmlId, blockLength, blockBytes },
  ]),
) as Record<TensorType, TensorTypeInfo>

/** Ids that ggml once used and has withdrawn, so that an old file can be refused by name. */
export const WITHDRAWN_GGML_TYPES: ReadonlyMap<number, string> = new Map([
  [4, 'Q4_2'],
  [5, 'Q4_3'],
  [31, 'Q4_0_4_4'],
  [32, 'Q4_0_4_8'],
  [33, 'Q4_0_8_8'],
  [36, 'IQ4_NL_4_4'],
  [37, 'IQ4_NL_4_8'],
  [38, 'IQ4_NL_8_8'],
])

const TYPE_BY_GGML_ID: ReadonlyMap<number, TensorTypeInfo> = new Map(
  Object.values(TENSOR_TYPES).flatMap((info) => (info.ggmlId === undefined ? [] : [[info.ggmlId, info]])),
)

/** The type with exactly this name (case matters), or undefined. */
export function tensorTypeFromName(name: string): TensorTypeInfo | undefined {
  return Object.hasOwn(TENSOR_TYPES, name) ? TENSOR_TYPES[name as TensorType] : undefined
}

/** The type with this id in a GGUF tensor header, or undefined. */
export function tensorTypeFromGgmlId(id: number): TensorTypeInfo | undefined {
  return TYPE_BY_GGML_ID.get(id)
}

/**
 * Bytes that `elementCount` consecutive elements take.
 *
 * @throws EngineError `format/partial-block` when the count is not a whole number of blocks.
 */
export function byteLengthOf(type: TensorType, elementCount: number): number {
  const { blockLength, blockBytes } = TENSOR_TYPES[type]
  if (!Number.isSafeInteger(elementCount) || elementCount < 0 || elementCount % blockLength !== 0) {
    throw new EngineError('format/partial-block', {
      message: `${type} stores ${blockLength} elements per block; expected a multiple of ${blockLength}, found ${elementCount} elements.`,
      hint: 'Use a type with smaller blocks for this tensor (Q8_0 has 32, F16 has 1).',
    })
  }
  return (elementCount / blockLength) * blockBytes
}
