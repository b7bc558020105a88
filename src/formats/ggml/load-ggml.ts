/**
 * Opening the `ggml-*.bin` files of whisper.cpp: sizes, mel filters, vocabulary, then tensors one after the other, each
 * behind its own small header. Layout: ggml-org/whisper.cpp `models/convert-pt-to-ggml.py` and `src/whisper.cpp`.
 */
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { CONTENT_KIND_BYTES, createWrongKindError } from '../content-kind.ts'
import { requireGgmlType } from '../ggml-type.ts'
import {
  MAX_GGML_SIZE,
  MAX_GGML_TOKEN_BYTES,
  MAX_GGUF_DIMS,
  MAX_GGUF_TENSOR_NAME_BYTES,
  MAX_TENSORS,
} from '../limits.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { SourceReader } from './source-reader.ts'

/** "ggml" as a number. */
const MAGIC = 0x67676d6c

/** Sizes in the order of the file. */
const SIZES = [
  'vocabSize',
  'audioPositions',
  'audioDim',
  'audioHeads',
  'audioLayers',
  'textPositions',
  'textDim',
  'textHeads',
  'textLayers',
  'melBands',
] as const

export type GgmlSizes = Readonly<Record<(typeof SIZES)[number], number>>

export interface GgmlFile {
  readonly sizes: GgmlSizes
  /** Bytes of each token of the base vocabulary, by id; special tokens follow them and have no entry. */
  readonly vocabulary: readonly Uint8Array[]
  /** By name, in file order. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly source: ByteSource
}

/** Whether a file begins as one of whisper.cpp's. */
export function isGgml(head: Uint8Array): boolean {
  return head.byteLength >= 4 && new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true) === MAGIC
}

/**
 * Reads and checks everything but the tensors' data. The source stays open and belongs to the caller.
 *
 * @throws EngineError `format/…` for anything that is not a sound file, `file/…` when reading fails.
 */
export async function loadGgml(source: ByteSource): Promise<GgmlFile> {
  const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
  if (!isGgml(head)) throw createWrongKindError(source.name, 'a whisper.cpp file', head)
  const reader = new SourceReader(source, HEADER_PIECE_BYTES)
  const sizes = await readSizes(reader, source.name)
  await skipMelFilters(reader, source.name)
  const vocabulary = await readVocabulary(reader, sizes, source.name)
  return { sizes, vocabulary, tensors: await readTensors(source, reader.offset), source }
}

/** Holds the header of every published model but large-v3's. */
const HEADER_PIECE_BYTES = 2 ** 20
/** Holds the header of a tensor; what is read beyond it is thrown away. */
const TENSOR_PIECE_BYTES = 256

async function readSizes(reader: SourceReader, fileName: string): Promise<GgmlSizes> {
  await reader.need(4 * (SIZES.length + 2), 'the list of sizes')
  reader.i32() // the magic number
  const sizes: Record<string, number> = {}
  for (const name of SIZES) sizes[name] = checkCount(reader.i32(), name, MAX_GGML_SIZE, fileName)
  reader.i32() // the type of most tensors, which each tensor says again
  return sizes as GgmlSizes
}

/** They are the same for all models of a width (src/audio makes them), so only their size is looked at. */
async function skipMelFilters(reader: SourceReader, fileName: string): Promise<void> {
  await reader.need(8, 'the size of the mel filters')
  const bands = checkCount(reader.i32(), 'the number of mel bands', MAX_GGML_SIZE, fileName)
  const bins = checkCount(reader.i32(), 'the width of the mel filters', MAX_GGML_SIZE, fileName)
  reader.skip(bands * bins * 4, 'the mel filters')
}

async function readVocabulary(
  reader: SourceReader,
  { vocabSize }: GgmlSizes,
  fileName: string,
): Promise<Uint8Array[]> {
  await reader.need(4, 'the number of tokens')
  const count = checkCount(reader.i32(), 'the number of tokens', vocabSize, fileName)
  const tokens: Uint8Array[] = []
  for (let id = 0; id < count; id++) {
    await reader.need(4, `the length of token ${id}`)
    const byteLength = reader.i32()
    if (byteLength < 0 || byteLength > MAX_GGML_TOKEN_BYTES)
      throw outOfBounds(fileName, `the length of token ${id}`, 0, MAX_GGML_TOKEN_BYTES, byteLength)
    await reader.need(byteLength, `token ${id}`)
    tokens.push(reader.bytes(byteLength))
  }
  return tokens
}

async function readTensors(source: ByteSource, offset: number): Promise<Map<string, TensorInfo>> {
  const reader = new SourceReader(source, TENSOR_PIECE_BYTES)
  reader.skip(offset, 'the header')
  const tensors = new Map<string, TensorInfo>()
  while (!reader.isAtEnd) {
    const tensor = await readTensor(reader, source, tensors.size)
    if (tensors.has(tensor.name)) {
      throw new EngineError('format/duplicate-name', {
        message: `${source.name}: tensor "${tensor.name}" appears twice; expected each once.`,
        hint: 'The file is damaged; fetch it again.',
      })
    }
    if (tensors.size >= MAX_TENSORS) throw outOfBounds(source.name, 'the number of tensors', 0, MAX_TENSORS)
    tensors.set(tensor.name, tensor)
  }
  return tensors
}

async function readTensor(reader: SourceReader, source: ByteSource, index: number): Promise<TensorInfo> {
  const field = `the header of tensor ${index}`
  await reader.need(12, field)
  const dimCount = reader.i32()
  const nameBytes = reader.i32()
  const typeId = reader.i32()
  if (dimCount < 1 || dimCount > MAX_GGUF_DIMS)
    throw outOfBounds(source.name, `the number of dimensions in ${field}`, 1, MAX_GGUF_DIMS, dimCount)
  if (nameBytes < 1 || nameBytes > MAX_GGUF_TENSOR_NAME_BYTES)
    throw outOfBounds(
      source.name,
      `the length of the name in ${field}`,
      1,
      MAX_GGUF_TENSOR_NAME_BYTES,
      nameBytes,
    )
  await reader.need(dimCount * 4 + nameBytes, field)
  const shape: number[] = []
  // The file has the fastest axis first.
  for (let axis = 0; axis < dimCount; axis++) shape.unshift(reader.i32())
  const name = new TextDecoder().decode(reader.bytes(nameBytes))
  const label = `${source.name}: tensor "${name}"`
  const type = requireGgmlType(typeId, label)
  const byteLength = tensorByteLength(label, type, shape)
  const byteOffset = reader.offset
  reader.skip(byteLength, `the data of tensor "${name}"`)
  return { name, type, shape, byteOffset, byteLength, source }
}

function checkCount(value: number, what: string, most: number, fileName: string): number {
  if (value >= 1 && value <= most) return value
  throw outOfBounds(fileName, what, 1, most, value)
}

function outOfBounds(
  fileName: string,
  what: string,
  least: number,
  most: number,
  found?: number,
): EngineError {
  return new EngineError('format/limit-exceeded', {
    message: `${fileName}: ${what}: expected ${least} to ${most}, found ${found ?? 'more'}.`,
    hint: 'The file is damaged; fetch it again.',
  })
}
