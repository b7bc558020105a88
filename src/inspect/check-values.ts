/** Values that no sound model has: not finite, absurd, all zero, impossible block scales, one tensor in place of another. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { FindingCode, Findings } from './finding.ts'
import { partOf, roleOf } from './model-part.ts'
import type { TensorProbe } from './probe-tensor.ts'
import { listNames } from './read-file.ts'

/** Outliers of trained weights reach some hundreds. */
const LARGEST_SANE = 1e5
/** Small tensors may be equal by chance or design. */
const MIN_IDENTICAL_ELEMENTS = 1024

export interface Probed {
  readonly tensor: TensorInfo
  readonly probe: TensorProbe
}

export function checkValues(all: readonly Probed[], label: string, findings: Findings): void {
  report(
    'weights/not-finite',
    'hold NaN or infinity',
    ({ probe }) => probe.notFinite,
    (sum) => ({ values: sum }),
  )
  report(
    'weights/bad-block-scale',
    'have blocks with impossible scales',
    ({ probe }) => probe.badScales,
    (sum) => ({
      blocks: sum,
    }),
  )
  report(
    'weights/absurd-values',
    `hold values beyond ${LARGEST_SANE}`,
    ({ probe }) => (probe.largest > LARGEST_SANE && probe.badScales === 0 ? 1 : 0),
    (_, wrong) => ({
      largest: Math.max(...wrong.map(({ probe }) => probe.largest)),
      threshold: LARGEST_SANE,
    }),
  )
  report(
    'weights/all-zero',
    'are all zeros',
    ({ tensor, probe }) => (isNeverZero(tensor.name) && probe.zeros === probe.elements ? 1 : 0),
    () => ({}),
  )
  reportIdentical(all, label, findings)

  function report(
    code: FindingCode,
    what: string,
    count: (probed: Probed) => number,
    evidence: (sum: number, wrong: readonly Probed[]) => Record<string, unknown>,
  ): void {
    const wrong = all.filter((one) => count(one) > 0)
    if (wrong.length === 0) return
    const sum = wrong.reduce((total, one) => total + count(one), 0)
    const names = wrong.map(({ tensor }) => tensor)
    findings.add(code, `${label}: ${wrong.length} tensors ${what} (${listNames(names)}).`, {
      tensors: wrong.length,
      first: names[0]?.name,
      ...evidence(sum, wrong),
    })
  }
}

/** Biases and attention sinks may be zero as a whole; matrices and the weights of norms never are. */
function isNeverZero(name: string): boolean {
  return name.endsWith('.weight') && partOf(name) !== 'other'
}

function reportIdentical(all: readonly Probed[], label: string, findings: Findings): void {
  const groups = new Map<string, TensorInfo[]>()
  for (const { tensor, probe } of all) {
    const isTied = ['embedding', 'head'].includes(partOf(tensor.name))
    if (isTied || probe.isConstant || probe.elements < MIN_IDENTICAL_ELEMENTS) continue
    const key = `${tensor.type} ${tensor.shape.join('x')} ${probe.fingerprint}`
    groups.set(key, [...(groups.get(key) ?? []), tensor])
  }
  const repeated = [...groups.values()].filter((group) => group.length > 1)
  const [first] = repeated
  if (!first) return
  const layers = new Set(repeated.flat().map(({ name }) => roleOf(name).layer))
  findings.add(
    'weights/identical-tensors',
    `${label}: ${repeated.length} groups of tensors hold the same bytes (${listNames(first)}).`,
    { groups: repeated.length, first: first.map(({ name }) => name), layers: [...layers] },
  )
}
