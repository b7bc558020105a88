/**
 * Which parts of a model were trained. Matrices are judged one by one; those without structure of their own get a second
 * look beside their trained neighbours; the share of untrained matrices decides about the part, and what biases, norms
 * and the sameness of layers say stands beside it.
 */
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { Probed } from './check-values.ts'
import type { FindingCode, Findings, Severity } from './finding.ts'
import { judgeMatrix, TRAINED_Z } from './judge-matrix.ts'
import {
  type JudgedMatrix,
  knowsNeighbours,
  type NeighbourOptions,
  projectorAlignment,
} from './judge-neighbours.ts'
import { matrixShape, readMatrixSample } from './matrix-sample.ts'
import { engineName, type ModelPart, partOf, roleOf } from './model-part.ts'
import type { ReadBudget } from './read-budget.ts'
import { listNames } from './read-file.ts'

export interface TrainingOptions {
  readonly budget: ReadBudget
  /** Shown what is read of each matrix. */
  readonly onBytes: (tensor: TensorInfo, bytes: Uint8Array) => void
  readonly onProgress: () => void
}

type JudgedPart = Exclude<ModelPart, 'other'>

const UNTRAINED: Readonly<Record<JudgedPart, { code: FindingCode; name: string }>> = {
  vision: { code: 'weights/untrained-vision', name: 'vision tower' },
  projector: { code: 'weights/untrained-projector', name: 'projector' },
  embedding: { code: 'weights/untrained-embedding', name: 'embedding' },
  layers: { code: 'weights/untrained-layers', name: 'decoder' },
  head: { code: 'weights/untrained-head', name: 'output head' },
}
const PARTS = Object.keys(UNTRAINED) as JudgedPart[]

/** A part is untrained when at least this share of its matrices is. */
const UNTRAINED_SHARE = 0.5
/** So many single matrices, or this share, are no longer an oddity. */
const MANY_TENSORS = 3
const MANY_SHARE = 0.25
/** Fewer norms may stand at one by chance. */
const MIN_NORMS = 4
/** Matrices that are described one by one in the evidence. */
const MAX_DESCRIBED = 4
/** A projector that belongs to its neighbours lies at 20 and more; chance stays below 5. */
const FOREIGN_Z = TRAINED_Z

/** Each takes up to a second. In trained models one or two matrices need one. */
const MAX_SECOND_LOOKS = 16

/** Tables that are read by position: smooth or sinusoidal whether trained or not. */
const TABLE = /position_embd|position_embedding|class_embd|class_embedding/

export async function checkTraining(
  tensors: ReadonlyMap<string, TensorInfo>,
  probed: ReadonlyMap<string, Probed>,
  options: TrainingOptions,
  findings: Findings,
): Promise<void> {
  const { budget } = options
  const neighbours = { visionDim: visionWidth(tensors) }
  const judged: JudgedMatrix[] = []
  for (const part of PARTS) {
    for (const tensor of chooseMatrices(tensors, part, budget.matrices)) {
      options.onProgress()
      const sample = await readMatrixSample(tensor, (bytes) => options.onBytes(tensor, bytes), budget.sample)
      judged.push({ tensor, part, ...roleOf(tensor.name), verdict: judgeMatrix(sample) })
    }
  }
  const untrained = new Set<JudgedPart>()
  let looks = 0
  for (const part of PARTS) {
    const matrices = judged.filter((matrix) => matrix.part === part && matrix.verdict.looks !== 'unjudged')
    const suspects = matrices.filter((matrix) => matrix.verdict.looks !== 'trained')
    if (suspects.length === 0) continue
    const isShared = suspects.length / matrices.length >= UNTRAINED_SHARE
    const initialized: JudgedMatrix[] = []
    for (const suspect of suspects) {
      options.onProgress()
      // A tower or decoder of mostly random matrices has no trained neighbours to ask.
      const asks =
        suspect.verdict.looks === 'random' && !(isShared && (part === 'layers' || part === 'vision'))
      const mayAsk = asks && looks++ < MAX_SECOND_LOOKS
      if (!mayAsk || !(await knowsNeighbours(suspect, judged, neighbours))) initialized.push(suspect)
    }
    if (initialized.length === 0) continue
    if (initialized.length / matrices.length >= UNTRAINED_SHARE) {
      untrained.add(part)
      reportPart(part, matrices, initialized, probed, findings)
    } else if (!budget.isSparing) reportTensors(part, matrices, initialized, findings)
  }
  checkNorms(probed, untrained, findings)
  if (!budget.isSparing) await checkProjectorOrigin(judged, untrained, neighbours, findings)
}

/** Outputs of the first layer of the vision tower, whatever the configuration says. */
function visionWidth(tensors: ReadonlyMap<string, TensorInfo>): number | undefined {
  return [...tensors.values()].find(({ name }) => engineName(name) === 'v.patch_embd.weight')?.shape[0]
}

/** The matrices that are measured. */
export function chosenMatrices(
  tensors: ReadonlyMap<string, TensorInfo>,
  { matrices }: ReadBudget,
): Map<string, TensorInfo> {
  const chosen = PARTS.flatMap((part) => chooseMatrices(tensors, part, matrices))
  return new Map(chosen.map((tensor) => [tensor.name, tensor]))
}

/** All matrices of a part that can be judged, or `most` of them, evenly spread; the projector's are few. */
function chooseMatrices(
  tensors: ReadonlyMap<string, TensorInfo>,
  part: JudgedPart,
  most: number,
): TensorInfo[] {
  const candidates = [...tensors.values()].filter((tensor) => {
    const { rows, columns } = matrixShape(tensor)
    return partOf(tensor.name) === part && Math.min(rows, columns) > 1 && !TABLE.test(tensor.name)
  })
  if (candidates.length <= most || part === 'projector') return candidates
  candidates.sort((a, b) => (roleOf(a.name).layer ?? -1) - (roleOf(b.name).layer ?? -1))
  return Array.from(
    { length: most },
    (_, index) => candidates[Math.floor((index * candidates.length) / most)] as TensorInfo,
  )
}

function reportPart(
  part: JudgedPart,
  matrices: readonly JudgedMatrix[],
  initialized: readonly JudgedMatrix[],
  probed: ReadonlyMap<string, Probed>,
  findings: Findings,
): void {
  const { code, name } = UNTRAINED[part]
  const [first] = initialized as [JudgedMatrix]
  findings.add(
    code,
    `The ${name} was never trained: ${initialized.length} of ${matrices.length} matrices are as an initialiser leaves them (${first.tensor.name}: ${describeVerdict(first)}).`,
    {
      part,
      matrices: matrices.length,
      untrained: initialized.length,
      share: initialized.length / matrices.length,
      shareThreshold: UNTRAINED_SHARE,
      zThreshold: TRAINED_Z,
      tensors: initialized.slice(0, MAX_DESCRIBED).map(evidenceOf),
      ...supportingEvidence(part, matrices, probed),
    },
  )
}

function reportTensors(
  part: JudgedPart,
  matrices: readonly JudgedMatrix[],
  initialized: readonly JudgedMatrix[],
  findings: Findings,
): void {
  const [first] = initialized as [JudgedMatrix]
  const isMany = initialized.length >= MANY_TENSORS || initialized.length / matrices.length >= MANY_SHARE
  const severity: Severity = isMany ? 'error' : 'warning'
  findings.add(
    'weights/untrained-tensors',
    `${initialized.length} of ${matrices.length} matrices of the ${UNTRAINED[part].name} are as an initialiser leaves them (${listNames(initialized.map(({ tensor }) => tensor))}; the first: ${describeVerdict(first)}).`,
    {
      part,
      matrices: matrices.length,
      untrained: initialized.length,
      zThreshold: TRAINED_Z,
      tensors: initialized.slice(0, MAX_DESCRIBED).map(evidenceOf),
    },
    severity,
  )
}

function describeVerdict({ verdict }: JudgedMatrix): string {
  const { looks, initializer, statistics, statistic, z } = verdict
  if (looks !== 'random' || !statistics) return `${initializer}`
  const { edge, rowOverlap } = statistics
  return (
    `${initializer}; largest singular value ${edge.ratio.toFixed(2)} of the random-matrix edge, ` +
    `row overlap ${rowOverlap.ratio.toFixed(3)} of chance; the farthest statistic, ${statistic}, is ${z.toFixed(1)} deviations ` +
    `from chance, trained ones lie beyond ${TRAINED_Z}`
  )
}

function evidenceOf({ tensor, verdict }: JudgedMatrix): Record<string, unknown> {
  const { looks, initializer, statistics, statistic, z } = verdict
  const round = (value: number): number => Number(value.toPrecision(4))
  return {
    name: tensor.name,
    type: tensor.type,
    shape: tensor.shape,
    looks,
    initializer,
    statistic,
    z: round(z),
    ...(statistics && {
      std: round(statistics.std),
      kurtosis: round(statistics.kurtosis),
      edge: round(statistics.edge.ratio),
      rowOverlap: round(statistics.rowOverlap.ratio),
      columnOverlap: round(statistics.columnOverlap.ratio),
      rowSpread: round(statistics.rowSpread.ratio),
      columnSpread: round(statistics.columnSpread.ratio),
    }),
  }
}

/** Zero biases, norms at one, and matrices of one role with the same size of elements in all layers. */
function supportingEvidence(
  part: JudgedPart,
  matrices: readonly JudgedMatrix[],
  probed: ReadonlyMap<string, Probed>,
): Record<string, unknown> {
  const { biases, zeroBiases, norms, unitNorms } = countVectors(part, probed)
  const byRole = new Map<string, number[]>()
  for (const { role, verdict } of matrices) {
    if (verdict.statistics) byRole.set(role, [...(byRole.get(role) ?? []), verdict.statistics.std])
  }
  const spreads = [...byRole.values()].filter((stds) => stds.length >= 3).map(relativeSpread)
  return {
    ...(biases > 0 && { zeroBiases: `${zeroBiases} of ${biases}` }),
    ...(norms > 0 && { unitNorms: `${unitNorms} of ${norms}` }),
    ...(spreads.length > 0 && { stdSpreadOverLayers: Number(Math.max(...spreads).toPrecision(3)) }),
  }
}

function relativeSpread(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return Math.sqrt(variance) / mean
}

interface VectorCounts {
  readonly biases: number
  readonly zeroBiases: number
  readonly norms: number
  readonly unitNorms: number
}

function countVectors(part: ModelPart, probed: ReadonlyMap<string, Probed>): VectorCounts {
  const counts = { biases: 0, zeroBiases: 0, norms: 0, unitNorms: 0 }
  for (const { tensor, probe } of probed.values()) {
    if (tensor.shape.length !== 1 || partOf(tensor.name) !== part) continue
    if (tensor.name.endsWith('.bias')) {
      counts.biases++
      if (probe.zeros === probe.elements) counts.zeroBiases++
    } else if (/norm|\bln|layrnorm/.test(tensor.name)) {
      counts.norms++
      if (probe.ones === probe.elements) counts.unitNorms++
    }
  }
  return counts
}

function checkNorms(
  probed: ReadonlyMap<string, Probed>,
  untrained: ReadonlySet<JudgedPart>,
  findings: Findings,
): void {
  for (const part of ['vision', 'layers'] as const) {
    const { biases, zeroBiases, norms, unitNorms } = countVectors(part, probed)
    if (untrained.has(part) || norms < MIN_NORMS || unitNorms < norms || zeroBiases < biases) continue
    findings.add(
      'weights/initial-norms',
      `All ${norms} norms of the ${UNTRAINED[part].name} are exactly 1${biases > 0 ? ` and all ${biases} biases exactly 0` : ''}, as before training.`,
      { part, norms, unitNorms, biases, zeroBiases },
    )
  }
}

/** A trained projector of another model fits in width but not in what the numbers mean. */
async function checkProjectorOrigin(
  judged: readonly JudgedMatrix[],
  untrained: ReadonlySet<JudgedPart>,
  options: NeighbourOptions,
  findings: Findings,
): Promise<void> {
  if ((['projector', 'layers', 'vision'] as const).some((part) => untrained.has(part))) return
  const alignment = await projectorAlignment(judged, options)
  for (const [side, other] of [
    ['decoder', 'text model'],
    ['vision', 'vision tower'],
  ] as const) {
    const z = alignment[side]
    if (z === undefined || z >= FOREIGN_Z) continue
    findings.add(
      'model/foreign-projector',
      `The projector does not know the ${other}: their weights agree no more than chance (${z.toFixed(1)} deviations, expected more than ${FOREIGN_Z}); it was trained with another one.`,
      { side, z: Number(z.toPrecision(4)), threshold: FOREIGN_Z },
    )
  }
}
