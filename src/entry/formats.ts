/** Files of models: read, write, decode, and look into them. */

export {
  type EncodedGgufHeader,
  encodeGguf,
  encodeGgufHeader,
  type GgufEntry,
  type GgufPlan,
  type GgufTensorData,
  type GgufTensorPlan,
  metadataEntries,
} from '../formats/gguf/encode-gguf.ts'
export { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
export { loadSplitGguf, type SplitGgufFile } from '../formats/gguf/load-split.ts'
export type { GgufArray, GgufValue, GgufValueType } from '../formats/gguf/value-types.ts'
export { loadSafetensors } from '../formats/safetensors/load-safetensors.ts'
export { loadShardedSafetensors } from '../formats/safetensors/load-sharded.ts'
export { type SafetensorsTensor, writeSafetensors } from '../formats/safetensors/write-safetensors.ts'
export type { OpenShard } from '../formats/shard-opening.ts'
export type { TensorInfo } from '../formats/tensor-info.ts'
export { openFile } from '../host/node/file-source.ts'
export type { ModelReport } from '../inspect/describe-model.ts'
export { FINDING_CODES, type Finding, type FindingCode, type Severity } from '../inspect/finding.ts'
export type { Inspection, InspectOptions } from '../inspect/inspect-model.ts'
export { decodeBlocks, isDecodable } from '../quant/decode.ts'
export { encodeBlocks, isEncodable } from '../quant/encode.ts'
export { byteLengthOf, TENSOR_TYPES, type TensorType, type TensorTypeInfo } from '../quant/tensor-types.ts'
export { createBlobSource } from '../shared/blob-source.ts'
export { type ByteSource, readBytes } from '../shared/byte-source.ts'
export { EngineError, type ErrorCode } from '../shared/errors.ts'
export { createMemorySource } from '../shared/memory-source.ts'
export { type InspectModelOptions, inspectModel } from './inspect.node.ts'
