import type { BufferRef, OpArguments } from '../backend.ts'
import { OP_RULES, type OpRules } from '../op-rules.ts'
import { type ArgumentKind, MATRIX_TYPES, OPS, type OpName, type OpRow } from '../ops.ts'
import { COMMAND_ARGUMENTS, COMMAND_FLAGS, COMMAND_WORDS, NO_BARRIER } from './control-words.ts'
import { DependencyTracker } from './dependencies.ts'
import { packedByteLength } from './packed-layout.ts'

/** Pieces each thread takes at least this many times, so that threads of unequal speed end together. */
const GRABS_PER_THREAD = 4

interface Encoding {
  readonly code: number
  readonly args: readonly (readonly [string, ArgumentKind])[]
  readonly over: readonly string[]
  readonly per: number
  /** Fewest pieces that are worth taking at once. */
  readonly together: number
}

const ENCODINGS = Object.fromEntries(
  (Object.entries(OPS) as [OpName, OpRow][]).map(([name, row], code): [string, Encoding] => [
    name,
    {
      code,
      args: Object.entries(row.args),
      over: typeof row.work.over === 'string' ? [row.work.over] : row.work.over,
      per: row.work.per,
      together: row.work.together ?? 1,
    },
  ]),
) as Record<OpName, Encoding>

/** Collects commands in the form that the kernels run (kernels/wasm/program.ts). */
export class CommandEncoder {
  readonly #threads: number
  readonly #addressOf: (ref: BufferRef) => number
  #words = new Int32Array(COMMAND_WORDS * 256)
  #floats = new Float32Array(this.#words.buffer)
  #length = 0
  readonly #dependencies = new DependencyTracker()

  constructor(threads: number, addressOf: (ref: BufferRef) => number) {
    this.#threads = threads
    this.#addressOf = addressOf
  }

  /** Commands since the last `take`. */
  get count(): number {
    return this.#length / COMMAND_WORDS
  }

  push<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    const encoding = ENCODINGS[op]
    const values = args as Readonly<Record<string, unknown>>
    let pieces = 1
    for (const [index, key] of encoding.over.entries()) {
      const count = values[key] as number
      pieces *= index === encoding.over.length - 1 ? Math.ceil(count / encoding.per) : count
    }
    if (pieces === 0) return
    if (this.#length === this.#words.length) this.#enlarge()
    const words = this.#words
    let at = this.#length
    words[at] = encoding.code
    words[at + 1] = 0
    words[at + 2] = pieces
    words[at + 3] = this.#grab(pieces, encoding.together)
    words[at + COMMAND_FLAGS] = 0
    at += COMMAND_ARGUMENTS
    for (const [key, kind] of encoding.args) {
      const value = values[key]
      if (kind === 'float') this.#floats[at] = value as number
      else if (kind === 'integer') words[at] = value as number
      else if (kind === 'type') words[at] = MATRIX_TYPES[value as keyof typeof MATRIX_TYPES]
      else words[at] = value === undefined ? 0 : this.#addressOf(value as BufferRef)
      at++
    }
    if (!this.#mustWait(op, args) && this.#length > 0)
      words[this.#length - COMMAND_WORDS + COMMAND_FLAGS] = NO_BARRIER
    this.#length += COMMAND_WORDS
  }

  #grab(pieces: number, together: number): number {
    const fair = Math.ceil(pieces / (this.#threads * GRABS_PER_THREAD))
    return Math.max(fair, Math.min(together, Math.ceil(pieces / this.#threads)))
  }

  /** Whether the command needs what those since the last barrier do. */
  #mustWait<Name extends OpName>(op: Name, args: OpArguments<Name>): boolean {
    const rules: OpRules<OpArguments<Name>> = OP_RULES[op]
    const values = args as Readonly<Record<string, unknown>>
    const reads: number[] = []
    let writtenStart = 0
    let writtenEnd = 0
    for (const [name, byteLength] of Object.entries<number>(rules.byteLengths(args, packedByteLength))) {
      const ref = values[name] as BufferRef | undefined
      if (ref === undefined) continue
      const start = this.#addressOf(ref)
      if (name === rules.writes) {
        writtenStart = start
        writtenEnd = start + byteLength
      } else reads.push(start, start + byteLength)
    }
    return this.#dependencies.add(reads, writtenStart, writtenEnd)
  }

  /** A copy of the commands, which are then forgotten. */
  take(): Int32Array<ArrayBuffer> {
    const commands = this.#words.slice(0, this.#length)
    this.clear()
    return commands
  }

  clear(): void {
    this.#length = 0
    this.#dependencies.clear()
  }

  #enlarge(): void {
    const larger = new Int32Array(this.#words.length * 2)
    larger.set(this.#words)
    this.#words = larger
    this.#floats = new Float32Array(larger.buffer)
  }
}
