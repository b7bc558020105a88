/**
 * One call of an operation with given data, run on any backend. Every buffer stands between guard bytes, which
 * must survive; inputs must survive too. Guards and untouched outputs are NaN as float32 and as half, so that
 * reading or leaving too much shows.
 */
import type { Backend, BufferRef, DeviceBuffer, OpArguments } from '../backend.ts'
import { rawRowByteLength } from '../matrix-rows.ts'
import { type MatrixType, OPS, type OpName } from '../ops.ts'
import type { Format } from './compare.case.ts'
import { createRandom, type Random, seedOf } from './random.case.ts'

export interface ConformanceCase {
  readonly op: OpName
  /** The operation, its numbers and the kind of data. */
  readonly title: string
  readonly format: Format
  readonly tolerance: number
  /** Makes the data, once for both backends; the returned function gives the bytes of the result. */
  prepare(): (backend: Backend) => Promise<Uint8Array>
}

/** What a buffer argument holds before the call. */
export type Content =
  | { readonly kind: 'input'; readonly bytes: Uint8Array }
  | { readonly kind: 'matrix'; readonly rows: PackedRows }
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  | { readonly kind: 'same'; readonly as: string } // in place: the very buffer of another argument

export interface PackedRows {
  readonly type: MatrixType
  readonly raw: Uint8Array // (rows, columns) in blocks
  readonly rows: number
  readonly columns: number
  /** Rows of each `packRows` call; multiples of 8 but for the last. */
  readonly pieces: readonly number[]
}

type ScalarArguments<Name extends OpName> = {
  readonly [Key in keyof OpArguments<Name> as OpArguments<Name>[Key] extends number | string
    ? Key
    : never]: OpArguments<Name>[Key]
}

type BufferContents<Name extends OpName> = {
  readonly [Key in keyof OpArguments<Name> as OpArguments<Name>[Key] extends number | string ? never : Key]:
    | Content
    | (undefined extends OpArguments<Name>[Key] ? undefined : never)
}

interface CaseDefinition<Name extends OpName> {
  readonly scalars: ScalarArguments<Name>
  /** A word on the data, for the title. */
  readonly data: string
  readonly format?: Format
  readonly contents: (random: Random) => BufferContents<Name>
}

const GUARD_BYTES = 64
const GUARD = 0xff

/** Distances of buffer arguments from the start of their allocation: 4-byte aligned, but not all 16-byte. */
const LEADS = [64, 4, 0, 76, 12]
/** Packed layouts belong to the driver, which may count on vector alignment. */
const MATRIX_LEAD = 64

export function input(bytes: Uint8Array): Content {
  return { kind: 'input', bytes }
}

/** An output that holds guard bytes, NaN in any float format, before the call. */
export function output(byteLength: number): Content {
  return { kind: 'output', bytes: new Uint8Array(byteLength).fill(GUARD) }
}

/** An output that holds data before the call, since the operation works on it. */
export function update(bytes: Uint8Array): Content {
  return { kind: 'output', bytes }
}

export function same(as: string): Content {
  return { kind: 'same', as }
}

export function defineCase<Name extends OpName>(op: Name, definition: CaseDefinition<Name>): ConformanceCase {
  const { scalars, data, format = 'f32', contents } = definition
  const numbers = Object.entries(scalars).map(([name, value]) => `${name}=${value}`)
  const title = `${op} ${numbers.join(' ')} ${data}`
  return {
    op,
    title,
    format,
    tolerance: OPS[op].tolerance,
    prepare() {
      const prepared = contents(createRandom(seedOf(title))) as Readonly<Record<string, Content | undefined>>
      return (backend) =>
        runOp(backend, op, scalars as Readonly<Record<string, number | MatrixType>>, prepared)
    },
  }
}

/** The same case with its result in another form, where not every bit is promised. */
export function mapResult(
  original: ConformanceCase,
  map: (bytes: Uint8Array) => Uint8Array,
): ConformanceCase {
  return {
    ...original,
    prepare() {
      const run = original.prepare()
      return async (backend) => map(await run(backend))
    },
  }
}

async function runOp(
  backend: Backend,
  op: OpName,
  scalars: Readonly<Record<string, number | MatrixType>>,
  contents: Readonly<Record<string, Content | undefined>>,
): Promise<Uint8Array> {
  const guarded = new Map<string, GuardedBuffer>()
  try {
    for (const [index, [name, content]] of Object.entries(contents).entries()) {
      if (content === undefined || content.kind === 'same') continue
      const place =
        content.kind === 'matrix'
          ? await packMatrix(backend, content.rows)
          : guard(backend, content.bytes, LEADS[index % LEADS.length]!)
      guarded.set(name, place)
    }
    const refs: Record<string, BufferRef | undefined> = {}
    for (const [name, content] of Object.entries(contents)) {
      refs[name] = guarded.get(content?.kind === 'same' ? content.as : name)?.ref
    }
    backend.enqueue(op, { ...scalars, ...refs } as never)

    let result = new Uint8Array(0)
    for (const [name, place] of guarded) {
      const found = await readGuarded(backend, `${op}: "${name}"`, place)
      const content = contents[name]!
      const isResult =
        content.kind === 'output' ||
        Object.values(contents).some((other) => other?.kind === 'same' && other.as === name)
      if (isResult) result = found
      else if (content.kind === 'input')
        requireEqual(`${op} changed its input "${name}"`, content.bytes, found)
    }
    return result
  } finally {
    for (const { allocation } of guarded.values()) backend.free(allocation)
  }
}

export interface GuardedBuffer {
  readonly allocation: DeviceBuffer
  readonly ref: BufferRef
  readonly lead: number
  readonly byteLength: number
}

/** A buffer with `bytes` between guards; `lead` guard bytes stand before it. */
export function guard(backend: Backend, bytes: Uint8Array, lead: number): GuardedBuffer {
  const all = new Uint8Array(lead + bytes.length + GUARD_BYTES).fill(GUARD)
  all.set(bytes, lead)
  const allocation = backend.alloc(all.length)
  backend.write(allocation, all)
  return { allocation, ref: allocation.at(lead), lead, byteLength: bytes.length }
}

/** The bytes between the guards; fails when a guard byte has changed. */
export async function readGuarded(
  backend: Backend,
  what: string,
  { allocation, lead, byteLength }: GuardedBuffer,
): Promise<Uint8Array<ArrayBuffer>> {
  const all = await backend.read(allocation, allocation.byteLength)
  for (let at = 0; at < all.length; at++) {
    if (at >= lead && at < lead + byteLength) at = lead + byteLength
    if (all[at] !== GUARD) {
      throw new Error(`${what}: byte ${at - lead} was written, outside of its ${byteLength} bytes`)
    }
  }
  return all.slice(lead, lead + byteLength)
}

/** A packed matrix between guards, filled piece by piece. */
export async function packMatrix(backend: Backend, packed: PackedRows): Promise<GuardedBuffer> {
  const { type, raw, rows, columns, pieces } = packed
  const matrix = guard(
    backend,
    new Uint8Array(backend.matrixByteLength(type, rows, columns)).fill(GUARD),
    MATRIX_LEAD,
  )
  const staging = guard(backend, raw, 0)
  let firstRow = 0
  for (const piece of pieces) {
    const source = staging.ref.buffer.at(firstRow * rawRowByteLength(type, columns))
    backend.enqueue('packRows', { type, source, matrix: matrix.ref, rows: piece, columns, firstRow })
    firstRow += piece
  }
  await backend.flush()
  backend.free(staging.allocation)
  return matrix
}

/** Two calls where there are enough rows, the first of 8 rows; else one. */
export function inPieces(rows: number): readonly number[] {
  return rows > 8 ? [8, rows - 8] : [rows]
}

function requireEqual(what: string, expected: Uint8Array, found: Uint8Array): void {
  const at = expected.findIndex((byte, i) => byte !== found[i])
  if (at >= 0) throw new Error(`${what}: byte ${at} was ${expected[at]}, is ${found[at]}`)
}
