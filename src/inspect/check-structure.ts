/** Whether all tensors that the configuration asks for are there, with the shapes that it implies. */
import type { DeviceBuffer } from '../backend/backend.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { Matrix } from '../models/blocks/matrix.ts'
import { readWeights } from '../models/language-model.ts'
import type { ModelConfig } from '../models/model-config.ts'
import { NO_BUFFER, type WeightReader } from '../models/weight-reader.ts'
import type { Findings } from './finding.ts'
import { matrixShape } from './matrix-sample.ts'
import { engineName } from './model-part.ts'
import { listNames } from './read-file.ts'

/** More missing tensors say no more, and a configuration may ask for millions of layers. */
const MAX_MISSING = 100
/** Tables that older checkpoints carry along and every reader computes. */
const COMPUTED = /(inv_freq|position_ids|rope_freqs\.weight|attn\.bias|masked_bias)$/

/**
 * @param tensors By the engine's names.
 * @param names All names in the files.
 */
export async function checkStructure(
  config: ModelConfig,
  tensors: ReadonlyMap<string, TensorInfo>,
  names: Iterable<string>,
  label: string,
  findings: Findings,
): Promise<void> {
  const checklist = new Checklist(tensors)
  await readWeights(checklist, config).catch((error: unknown) => {
    if (!(error instanceof EnoughMissing)) throw error
  })
  const { missing, misshapen } = checklist
  // What cannot be read of a cut or partly fetched model is reported as such already.
  const isIncomplete = (['format/truncated', 'file/missing-shard', 'format/bad-tensor'] as const).some(
    (code) => findings.has(code),
  )
  if (missing.length > 0 && tensors.size > 0 && !isIncomplete) {
    findings.add(
      'model/missing-tensor',
      `${label}: ${missing.length >= MAX_MISSING ? `${MAX_MISSING} or more` : missing.length} tensors are missing that the configuration asks for (${listNames(missing)}).`,
      { missing: missing.length, first: missing[0]?.name },
    )
  }
  reportShapes(misshapen, label, findings)
  const unknown = [...names].filter((name) => engineName(name) === undefined && !COMPUTED.test(name))
  if (unknown.length > 0) {
    findings.add(
      'model/unknown-tensors',
      `${label}: ${unknown.length} tensors are of no part that is used (${listNames(unknown.map((name) => ({ name })))}).`,
      { tensors: unknown.length },
    )
  }
}

/** One finding a part: a whole tower of another width is one fault, not hundreds. */
function reportShapes(misshapen: readonly Misshapen[], label: string, findings: Findings): void {
  const parts = new Map<string, Misshapen[]>()
  for (const shape of misshapen) {
    const part = shape.name.split('.')[0] ?? ''
    parts.set(part, [...(parts.get(part) ?? []), shape])
  }
  for (const [part, shapes] of parts) {
    const [{ expected, found }] = shapes as [Misshapen]
    const code =
      part === 'mm'
        ? 'model/projector-mismatch'
        : part === 'token_embd'
          ? 'model/vocabulary-mismatch'
          : 'model/wrong-shape'
    findings.add(
      code,
      `${label}: ${listNames(shapes)}: the configuration implies the shape (${expected.join(', ')}), the file has (${found.join(', ')}).`,
      { part, tensors: shapes.length, expected, found },
    )
  }
}

interface Misshapen {
  readonly name: string
  readonly expected: readonly number[]
  readonly found: readonly number[]
}

class EnoughMissing extends Error {}

/** Answers every request with an empty buffer and notes what would have failed. */
class Checklist implements WeightReader {
  readonly missing: { readonly name: string }[] = []
  readonly misshapen: Misshapen[] = []
  readonly #tensors: ReadonlyMap<string, TensorInfo>

  constructor(tensors: ReadonlyMap<string, TensorInfo>) {
    this.#tensors = tensors
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  async matrix(name: string, rows: number, columns: number): Promise<Matrix> {
    const tensor = this.#find(name)
    if (tensor) {
      const found = matrixShape(tensor)
      if (tensor.shape.length < 2 || found.rows !== rows || found.columns !== columns)
        this.misshapen.push({ name, expected: [rows, columns], found: tensor.shape })
    }
    return { type: 'F32', rows, columns, data: NO_BUFFER }
  }

  async vector(name: string, ...shape: number[]): Promise<DeviceBuffer> {
    const tensor = this.#find(name)
    if (tensor && product(tensor.shape) !== product(shape))
      this.misshapen.push({ name, expected: shape, found: tensor.shape })
    return NO_BUFFER
  }

  async optionalVector(wanted: boolean, name: string, length: number): Promise<DeviceBuffer | undefined> {
    return wanted ? this.vector(name, length) : undefined
  }

  #find(name: string): TensorInfo | undefined {
    const tensor = this.#tensors.get(name)
    if (tensor) return tensor
    this.missing.push({ name })
    if (this.missing.length >= MAX_MISSING) throw new EnoughMissing()
    return undefined
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((result, size) => result * size, 1)
}
