/**
 * The checks that every driver makes when an operation is enqueued, so that a wrong call fails there, by name,
 * and never reads or writes outside a buffer. What buffers hold (ids, for example) is not looked at.
 */
import { EngineError } from '../shared/errors.ts'
import type { BufferRef, OpArguments } from './backend.ts'
import { type MatrixByteLength, OP_RULES, type OpRules } from './op-rules.ts'
import { type ArgumentKind, isMatrixType, type MatrixType, OPS, type OpName } from './ops.ts'

/** Kernels take 32-bit signed integers. */
const MAX_INTEGER = 2 ** 31 - 1

/** What `checkArguments` walks through, listed once, since a model makes hundreds of calls for each token. */
interface Plan {
  readonly args: readonly (readonly [name: string, kind: ArgumentKind])[]
  readonly buffers: readonly string[]
}

const PLANS: ReadonlyMap<string, Plan> = new Map(
  Object.entries(OPS).map(([op, row]) => {
    const args = Object.entries<ArgumentKind>(row.args)
    const buffers = args.filter(([, kind]) => kind === 'buffer' || kind === 'optional-buffer')
    return [op, { args, buffers: buffers.map(([name]) => name) }]
  }),
)

/**
 * Checks the arguments of one call: present, of the right kind and range, inside their buffers, aligned, and
 * the written range overlapping no other one except where the operation works in place.
 *
 * @param matrixByteLength The driver's own, since packed layouts differ.
 * @throws EngineError `backend/bad-argument`, `backend/out-of-bounds` or `backend/overlap`, naming the operation
 *   and the argument; `backend/partial-block` for columns that do not fit the type.
 */
export function checkArguments<Name extends OpName>(
  op: Name,
  args: OpArguments<Name>,
  matrixByteLength: MatrixByteLength,
): void {
  const plan = PLANS.get(op)
  if (plan === undefined) throw badArgument(op, `expected one of ${[...PLANS.keys()].join(', ')}`)
  const rules: OpRules<OpArguments<Name>> = OP_RULES[op]
  const values = args as Readonly<Record<string, unknown>>
  for (const [name, kind] of plan.args) {
    const problem = kindProblem(kind, values[name], rules.types)
    if (problem !== undefined) throw badArgument(op, `expected "${name}" to be ${problem}`)
  }
  for (const name of rules.positive) {
    if (values[name] === 0) throw badArgument(op, `expected "${name}" to be at least 1, found 0`)
  }
  const unmet = rules.expects?.(args)
  if (unmet !== undefined) throw badArgument(op, `expected ${unmet}`)

  const byteLengths = rules.byteLengths(args, matrixByteLength) as Readonly<Record<string, number>>
  const written = values[rules.writes] as BufferRef
  for (const name of plan.buffers) {
    const ref = values[name] as BufferRef | undefined
    if (ref === undefined) continue
    const byteLength = byteLengths[name] ?? 0
    if (ref.byteOffset + byteLength > ref.buffer.byteLength) checkRange(`${op}: "${name}"`, ref, byteLength)
    if (ref.byteOffset % 4 !== 0 && !includes(rules.unaligned, name)) {
      throw badArgument(op, `expected "${name}" to start at a multiple of 4 bytes, found ${ref.byteOffset}`)
    }
    if (ref.buffer !== written.buffer || name === rules.writes) continue
    if (ref.byteOffset === written.byteOffset && includes(rules.inPlace, name)) continue
    const end = ref.byteOffset + byteLength
    const writtenEnd = written.byteOffset + (byteLengths[rules.writes] ?? 0)
    if (end <= written.byteOffset || writtenEnd <= ref.byteOffset) continue
    throw new EngineError('backend/overlap', {
      message:
        `${op}: "${rules.writes}" (bytes ${written.byteOffset} to ${writtenEnd}) overlaps ` +
        `"${name}" (bytes ${ref.byteOffset} to ${end}) of the same buffer.`,
      hint: 'Give the result a place of its own.',
    })
  }
}

function includes(names: readonly string[] | undefined, name: string): boolean {
  return names?.includes(name) ?? false
}

/**
 * Checks that `byteLength` bytes from `ref` on lie inside its buffer.
 *
 * @param what How the message names the range, for example `write: target`.
 * @throws EngineError `backend/out-of-bounds`.
 */
export function checkRange(what: string, ref: BufferRef, byteLength: number): void {
  const end = ref.byteOffset + byteLength
  if (!(Number.isSafeInteger(byteLength) && byteLength >= 0 && end <= ref.buffer.byteLength)) {
    throw new EngineError('backend/out-of-bounds', {
      message: `${what} takes ${byteLength} bytes from byte ${ref.byteOffset} on, but its buffer has ${ref.buffer.byteLength} bytes.`,
    })
  }
}

function kindProblem(
  kind: ArgumentKind,
  value: unknown,
  types: ((type: MatrixType) => boolean) | undefined,
): string | undefined {
  switch (kind) {
    case 'integer':
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_INTEGER
        ? undefined
        : `an integer from 0 to ${MAX_INTEGER}, found ${String(value)}`
    case 'float':
      return Number.isFinite(value) ? undefined : `a finite number, found ${String(value)}`
    case 'type':
      if (typeof value !== 'string' || !isMatrixType(value)) return `a matrix type, found ${String(value)}`
      return types === undefined || types(value) ? undefined : `a type this operation takes, found ${value}`
    case 'optional-buffer':
      return value === undefined || isBufferRef(value) ? undefined : describeNonBuffer(value)
    case 'buffer':
      return isBufferRef(value) ? undefined : describeNonBuffer(value)
  }
}

function describeNonBuffer(value: unknown): string {
  return `a place in a device buffer, found ${value === null ? 'null' : typeof value}`
}

function isBufferRef(value: unknown): value is BufferRef {
  if (typeof value !== 'object' || value === null) return false
  const { buffer, byteOffset } = value as { buffer?: unknown; byteOffset?: unknown }
  return (
    typeof buffer === 'object' &&
    buffer !== null &&
    Number.isInteger(byteOffset) &&
    (byteOffset as number) >= 0
  )
}

function badArgument(op: string, expectation: string): EngineError {
  return new EngineError('backend/bad-argument', { message: `${op}: ${expectation}.` })
}
