/** Writes one GGUF file tensor by tensor. */
import { type EncodedGgufHeader, encodeGgufHeader, type GgufEntry } from '../formats/gguf/encode-gguf.ts'
import { tensorByteLength } from '../formats/tensor-layout.ts'
import type { TensorType } from '../quant/tensor-types.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { PendingFile } from '../shared/pending-file.ts'
import { type EncodeOptions, encodeTensor } from './encode-tensor.ts'
import type { PlannedTensor } from './plan-tensors.ts'
import type { SourceFile } from './source-model.ts'

export interface FilePlan {
  readonly tensors: readonly PlannedTensor[]
  readonly header: EncodedGgufHeader
  /** Of the whole file. */
  readonly byteLength: number
}

export interface WriteOptions extends EncodeOptions {
  /** Called with the bytes written since the last call. */
  readonly onBytes?: ((byteLength: number, tensor: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export function planFile(source: SourceFile, tensors: readonly PlannedTensor[]): FilePlan {
  const metadata = new Map<string, GgufEntry>(source.metadata)
  metadata.set('general.file_type', { type: 'u32', value: fileType(tensors) })
  const header = encodeGgufHeader({
    metadata,
    tensors: tensors.map(({ source: { name, shape }, type }) => ({ name, type, shape })),
  })
  return { tensors, header, byteLength: header.bytes.byteLength + header.dataByteLength }
}

/** Appends the whole file; neither seals nor publishes it. */
export async function writeFile(file: PendingFile, plan: FilePlan, options: WriteOptions): Promise<void> {
  const { header, tensors } = plan
  const { onBytes, signal } = options
  await file.write(header.bytes)
  onBytes?.(header.bytes.byteLength, '')
  for (const [index, tensor] of tensors.entries()) {
    const { name } = tensor.source
    let written = 0
    for await (const bytes of encodeTensor(tensor, options)) {
      throwIfAborted(signal)
      await file.write(bytes)
      written += bytes.byteLength
      onBytes?.(bytes.byteLength, name)
    }
    const start = header.tensorOffsets[index] as number
    const end = header.tensorOffsets[index + 1] ?? header.dataByteLength
    const padding = new Uint8Array(end - start - written)
    await file.write(padding)
    onBytes?.(padding.byteLength, name)
  }
}

/** `general.file_type` (ggml `llama_ftype`) by the type that most matrix elements have; runtimes only print it. */
const FILE_TYPES: Partial<Record<TensorType, number>> = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q8_0: 7,
  Q5_0: 8,
  Q5_1: 9,
  Q4_K: 15,
  Q5_K: 17,
  Q6_K: 18,
  IQ4_NL: 25,
  BF16: 32,
}

/** ggml's number for files of which it knows no better name. */
const UNKNOWN_FILE_TYPE = 1024

function fileType(tensors: readonly PlannedTensor[]): number {
  const bytes = new Map<TensorType, number>()
  for (const { type, source } of tensors) {
    if (source.role === 'vector') continue
    const elements = source.shape.reduce((product, size) => product * size, 1)
    bytes.set(type, (bytes.get(type) ?? 0) + elements)
  }
  const [first] = [...bytes].sort(([, a], [, b]) => b - a)
  return FILE_TYPES[first?.[0] ?? 'F32'] ?? UNKNOWN_FILE_TYPE
}

/** Bytes of a tensor as planned. */
export function plannedByteLength({ source, type }: PlannedTensor): number {
  return tensorByteLength(`tensor "${source.name}"`, type, source.shape)
}
