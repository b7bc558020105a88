/**
 * Weight files that may be damaged: every tensor that can be placed is returned, everything that is wrong is a finding.
 * The loaders of `formats` stop at the first fault instead.
 */
import { CONTENT_KIND_BYTES, type ContentKind, detectContentKind } from '../formats/content-kind.ts'
import { type GgufFile, loadGgufHeader } from '../formats/gguf/load-gguf.ts'
import { isSafetensorsType } from '../formats/safetensors/dtypes.ts'
import { findDuplicateKey } from '../formats/safetensors/duplicate-keys.ts'
import { loadSafetensorsHeader } from '../formats/safetensors/load-safetensors.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { tensorByteLength } from '../formats/tensor-layout.ts'
import { type ByteSource, readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { FindingCode, Findings } from './finding.ts'

/** Names listed in one message. */
const MAX_NAMES = 5

const KIND_CODES: Readonly<Partial<Record<ContentKind, FindingCode>>> = {
  html: 'file/html-page',
  'lfs-pointer': 'file/lfs-pointer',
  pickle: 'file/pickle',
  zip: 'file/pickle',
  empty: 'file/empty',
}

const KIND_NAMES: Readonly<Partial<Record<ContentKind, string>>> = {
  html: 'an HTML page',
  'lfs-pointer': 'a Git LFS pointer, not the file itself',
  pickle: 'a Python pickle, probably a PyTorch checkpoint',
  zip: 'a ZIP archive, probably a PyTorch checkpoint',
  empty: 'no bytes at all',
  unknown: 'bytes of no known format',
}

/** Reports a file whose content is of another kind than its name promises. Returns whether it is of the `expected` kind. */
export async function checkContentKind(
  source: ByteSource,
  expected: 'gguf' | 'safetensors' | 'json',
  findings: Findings,
): Promise<boolean> {
  const head = await readBytes(source, 0, Math.min(CONTENT_KIND_BYTES, source.byteLength))
  const kind = detectContentKind(head)
  if (kind === expected) return true
  findings.add(
    KIND_CODES[kind] ?? 'file/wrong-kind',
    `${source.name}: expected a ${expected} file, found ${KIND_NAMES[kind] ?? `a file of the kind "${kind}"`}.`,
    { kind, bytes: source.byteLength },
  )
  return false
}

/** Tensors of a GGUF file with its metadata; undefined when the header cannot be read. */
export async function readGguf(source: ByteSource, findings: Findings): Promise<GgufFile | undefined> {
  if (!(await checkContentKind(source, 'gguf', findings))) return undefined
  try {
    const { tensors: entries, ...header } = await loadGgufHeader(source, (error) =>
      findings.addError(error, 'format/duplicate-name'),
    )
    const tensors = new Map<string, TensorInfo>()
    for (const { name, type, shape, byteLength, relativeOffset } of entries.values()) {
      tensors.set(name, {
        name,
        type,
        shape,
        byteLength,
        byteOffset: header.dataOffset + relativeOffset,
        source,
      })
    }
    const placed = keepPlaced(source, tensors, findings)
    return { ...header, tensors: placed, source }
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    findings.addError(
      error,
      /shape|tensor|row/.test(error.code) ? 'format/bad-tensor' : 'format/damaged-header',
    )
    return undefined
  }
}

/** Tensors of a safetensors file; none when the header cannot be read. */
export async function readSafetensors(
  source: ByteSource,
  findings: Findings,
): Promise<ReadonlyMap<string, TensorInfo>> {
  if (!(await checkContentKind(source, 'safetensors', findings))) return new Map()
  const tensors = new Map<string, TensorInfo>()
  try {
    const { header, dataOffset } = await loadSafetensorsHeader(source)
    for (const [name, record] of parseRecords(source.name, header, findings)) {
      const tensor = placeRecord(source, name, record, dataOffset, findings)
      if (tensor) tensors.set(name, tensor)
    }
    checkGaps(source, tensors, dataOffset, findings)
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    findings.addError(error, 'format/damaged-header')
    return new Map()
  }
  return keepPlaced(source, tensors, findings)
}

function parseRecords(name: string, header: Uint8Array, findings: Findings): [string, unknown][] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(header)
    const value: unknown = JSON.parse(text)
    const repeated = findDuplicateKey(text)
    if (repeated !== undefined) {
      findings.add('format/duplicate-name', `${name}: "${repeated}" appears twice in the header.`, {
        name: repeated,
      })
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error('it is no object')
    return Object.entries(value).filter(([key]) => key !== '__metadata__')
  } catch (cause) {
    findings.add(
      'format/damaged-header',
      `${name}: the header of ${header.byteLength} bytes is not JSON: ${(cause as Error).message}.`,
    )
    return []
  }
}

function placeRecord(
  source: ByteSource,
  name: string,
  record: unknown,
  dataOffset: number,
  findings: Findings,
): TensorInfo | undefined {
  const { dtype, shape, data_offsets: offsets } = (record ?? {}) as Record<string, unknown>
  const label = `${source.name}: tensor "${name}"`
  const isReadable =
    typeof dtype === 'string' && isSafetensorsType(dtype) && isNumbers(shape) && isNumbers(offsets)
  const [start = Number.NaN, end = Number.NaN] = isReadable ? offsets : []
  if (!isReadable || !(start <= end)) {
    findings.add('format/bad-tensor', `${label}: type, shape or place cannot be read.`, {
      record: JSON.stringify(record)?.slice(0, 200),
    })
    return undefined
  }
  try {
    const byteLength = tensorByteLength(label, dtype, shape)
    if (byteLength === end - start)
      return { name, type: dtype, shape, byteOffset: dataOffset + start, byteLength, source }
    findings.add(
      'format/bad-tensor',
      `${label}: shape [${shape.join(', ')}] of ${dtype} takes ${byteLength} bytes, but the header gives it ${end - start}.`,
      { expected: byteLength, found: end - start },
    )
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    findings.addError(error, 'format/bad-tensor')
  }
  return undefined
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)
}

/** Safetensors leave no byte unused; a gap means that header and data are not of one file. */
function checkGaps(
  source: ByteSource,
  tensors: ReadonlyMap<string, TensorInfo>,
  dataOffset: number,
  findings: Findings,
): void {
  let end = dataOffset
  let unused = 0
  for (const { byteOffset, byteLength } of byPlace(tensors)) {
    unused += Math.max(0, byteOffset - end)
    end = Math.max(end, byteOffset + byteLength)
  }
  unused += Math.max(0, source.byteLength - end)
  if (unused > 0) {
    findings.add(
      'format/unused-bytes',
      `${source.name}: ${unused} bytes of ${source.byteLength} belong to no tensor; expected none.`,
      { unused },
    )
  }
}

/** Reports tensors that overlap or lie outside the file; returns those that can be read. */
function keepPlaced(
  source: ByteSource,
  tensors: ReadonlyMap<string, TensorInfo>,
  findings: Findings,
): Map<string, TensorInfo> {
  const outside = [...tensors.values()].filter(
    (tensor) => tensor.byteOffset + tensor.byteLength > source.byteLength,
  )
  if (outside.length > 0) {
    const needed = outside.reduce(
      (most, { byteOffset, byteLength }) => Math.max(most, byteOffset + byteLength),
      0,
    )
    findings.add(
      'format/truncated',
      `${source.name}: ${outside.length} of ${tensors.size} tensors end beyond the file (${listNames(outside)}); it has ${source.byteLength} bytes, the tensors need ${needed}.`,
      { tensors: outside.length, fileBytes: source.byteLength, neededBytes: needed },
    )
  }
  const overlapping: string[] = []
  let previous: TensorInfo | undefined
  for (const tensor of byPlace(tensors)) {
    if (previous && tensor.byteOffset < previous.byteOffset + previous.byteLength)
      overlapping.push(`"${tensor.name}" in "${previous.name}"`)
    previous = tensor
  }
  if (overlapping.length > 0) {
    findings.add(
      'format/tensors-overlap',
      `${source.name}: ${overlapping.length} tensors begin inside another one (${overlapping.slice(0, MAX_NAMES).join(', ')}).`,
      { tensors: overlapping.length },
    )
  }
  const lost = new Set(outside)
  return new Map([...tensors].filter(([, tensor]) => !lost.has(tensor)))
}

function byPlace(tensors: ReadonlyMap<string, TensorInfo>): TensorInfo[] {
  return [...tensors.values()]
    .filter(({ byteLength }) => byteLength > 0)
    .sort((a, b) => a.byteOffset - b.byteOffset)
}

/** `"a", "b" and 7 more` */
export function listNames(tensors: readonly { readonly name: string }[]): string {
  const shown = tensors.slice(0, MAX_NAMES).map(({ name }) => `"${name}"`)
  const more = tensors.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
