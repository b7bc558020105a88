/**
 * Weights of an ONNX file, with the steps that use them: enough to load a known architecture from it, not to run it.
 * Source: onnx/onnx `onnx/onnx.proto3`.
 */
import type { TensorType } from '../../quant/tensor-types.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { MAX_TENSORS } from '../limits.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { type Extent, type Field, MessageReader } from './message-reader.ts'

export interface OnnxNode {
  /** `Conv`, `MatMul`, … */
  readonly operation: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Lists of whole numbers of convolutions: `strides`, `dilations`, …; other nodes have none. */
  readonly lists: Readonly<Record<string, readonly number[]>>
}

export interface OnnxFile {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly nodes: readonly OnnxNode[]
}

/** Exporters write paths of modules, up to some hundred characters. */
const MAX_NAME_BYTES = 4096
/** Unrolled recurrent models reach some ten thousand. */
const MAX_NODES = 2 ** 20
const MAX_DIMS = 8
const CONVOLUTIONS = ['Conv', 'ConvTranspose']
/** Of `Concat` and `Loop` nodes; others have a handful. */
const MAX_LINKS = 4096

/** Field numbers of the messages. */
const MODEL = { graph: 7 } as const
const GRAPH = { node: 1, initializer: 5 } as const
const NODE = { input: 1, output: 2, operation: 4, attribute: 5 } as const
const ATTRIBUTE = { name: 1, integers: 8 } as const
const TENSOR = { dims: 1, dataType: 2, name: 8, rawData: 9, dataLocation: 14 } as const

/** `TensorProto.DataType`. */
const DATA_TYPES: Readonly<Record<number, TensorType>> = {
  1: 'F32',
  2: 'U8',
  3: 'I8',
  5: 'I16',
  6: 'I32',
  7: 'I64',
  9: 'BOOL',
  10: 'F16',
  11: 'F64',
  16: 'BF16',
}

/** Tensors of other types and scalars that are stored inline are left out. Throws `format/…`. */
export async function loadOnnx(source: ByteSource): Promise<OnnxFile> {
  const reader = new MessageReader(source)
  const tensors = new Map<string, TensorInfo>()
  const nodes: OnnxNode[] = []
  let hasGraph = false
  for await (const field of reader.fields({ byteOffset: 0, byteLength: source.byteLength })) {
    if (field.number !== MODEL.graph) continue
    hasGraph = true
    for await (const part of reader.fields(extentOf(field))) {
      if (part.number === GRAPH.node) nodes.push(await readNode(reader, part))
      else if (part.number === GRAPH.initializer) {
        const tensor = await readTensor(reader, source, part)
        if (tensor) tensors.set(tensor.name, tensor)
      }
      if (nodes.length > MAX_NODES || tensors.size > MAX_TENSORS) {
        throw new EngineError('format/damaged', {
          message: `${source.name}: expected at most ${MAX_NODES} steps and ${MAX_TENSORS} tensors; found more.`,
          hint: 'The file is damaged, or made to do harm.',
        })
      }
    }
  }
  if (!hasGraph) {
    throw new EngineError('format/not-onnx', {
      message: `${source.name}: expected an ONNX model; found no graph in it.`,
      hint: 'The file may be another format with this ending, or cut off; fetch it again.',
    })
  }
  return { tensors, nodes }
}

async function readNode(reader: MessageReader, field: Field): Promise<OnnxNode> {
  const inputs: string[] = []
  const outputs: string[] = []
  const attributes: Field[] = []
  let operation = ''
  for await (const part of reader.fields(extentOf(field))) {
    if (inputs.length + outputs.length > MAX_LINKS) break
    if (part.number === NODE.input) inputs.push(await reader.text(part, MAX_NAME_BYTES))
    else if (part.number === NODE.output) outputs.push(await reader.text(part, MAX_NAME_BYTES))
    else if (part.number === NODE.operation) operation = await reader.text(part, MAX_NAME_BYTES)
    else if (part.number === NODE.attribute) attributes.push(part)
  }
  const lists = CONVOLUTIONS.includes(operation) ? await readLists(reader, attributes) : {}
  return { operation, inputs, outputs, lists }
}

async function readLists(
  reader: MessageReader,
  attributes: readonly Field[],
): Promise<Record<string, number[]>> {
  const lists: Record<string, number[]> = {}
  for (const attribute of attributes) {
    const values: number[] = []
    let name = ''
    for await (const part of reader.fields(extentOf(attribute))) {
      if (part.number === ATTRIBUTE.name) name = await reader.text(part, MAX_NAME_BYTES)
      else if (part.number === ATTRIBUTE.integers)
        values.push(...(await readIntegers(reader, part, MAX_DIMS)))
    }
    if (values.length > 0) lists[name] = values
  }
  return lists
}

/** Repeated numbers stand one by one, or all in one field. */
async function readIntegers(reader: MessageReader, field: Field, maxCount: number): Promise<number[]> {
  return field.wireType === 0 ? [field.value] : reader.numbers(field, maxCount)
}

async function readTensor(
  reader: MessageReader,
  source: ByteSource,
  field: Field,
): Promise<TensorInfo | undefined> {
  const shape: number[] = []
  let name = ''
  let dataType = 0
  let raw: Field | undefined
  let isElsewhere = false
  for await (const part of reader.fields(extentOf(field))) {
    if (part.number === TENSOR.dims) {
      shape.push(...(await readIntegers(reader, part, MAX_DIMS)))
    } else if (part.number === TENSOR.dataType) dataType = part.value
    else if (part.number === TENSOR.name) name = await reader.text(part, MAX_NAME_BYTES)
    else if (part.number === TENSOR.rawData) raw = part
    else if (part.number === TENSOR.dataLocation) isElsewhere = part.value === 1
    if (shape.length > MAX_DIMS) {
      throw new EngineError('format/bad-shape', {
        message: `${source.name}: tensor "${name}" has more than ${MAX_DIMS} dimensions.`,
        hint: 'The file is damaged; fetch it again.',
      })
    }
  }
  if (isElsewhere) {
    throw new EngineError('format/external-data', {
      message: `${source.name}: tensor "${name}" is stored in another file, which is not supported.`,
      hint: 'Save the model as one file.',
    })
  }
  const type = DATA_TYPES[dataType]
  if (type === undefined || raw === undefined) return undefined
  const label = `${source.name}: tensor "${name}"`
  const byteLength = tensorByteLength(label, type, shape)
  if (raw.value !== byteLength) {
    throw new EngineError('format/bad-shape', {
      message: `${label}: the shape [${shape.join(', ')}] of ${type} needs ${byteLength} bytes, found ${raw.value}.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  return { name, type, shape, byteOffset: raw.byteOffset, byteLength, source }
}

function extentOf({ byteOffset, value }: Field): Extent {
  return { byteOffset, byteLength: value }
}
