/** Answers that satisfy a JSON Schema: what tokens may come next, and when the answer is whole. */
import { EngineError } from '../shared/errors.ts'
import type { Place } from './grammar.ts'
import { Grammar, type GrammarState } from './grammar-state.ts'
import { SchemaSource } from './schema-alternatives.ts'
import { maskOf, type TokenMask, type WordWalks } from './token-masks.ts'
import type { TokenBytes } from './token-trie.ts'
import { createRootPlace } from './value-places.ts'
import { buildShapes, type ValueNode } from './value-shapes.ts'

/** Characters of a schema. Those of whole interfaces have some hundred thousand. */
const MAX_SCHEMA_LENGTH = 2 ** 20
/** Objects and lists within each other in a schema: real ones have up to about twenty. */
const MAX_SCHEMA_DEPTH = 200

/** A schema that was read and understood, for any vocabulary. */
export class CompiledSchema {
  readonly #node: ValueNode
  readonly #roots = new Map<boolean, Place>()

  constructor(node: ValueNode) {
    this.#node = node
  }

  /** @param allowsSpace A space may come before the answer. */
  rootPlace(allowsSpace: boolean): Place {
    let root = this.#roots.get(allowsSpace)
    if (!root) {
      root = createRootPlace(this.#node, { allowsSpace })
      this.#roots.set(allowsSpace, root)
    }
    return root
  }
}

/** Throws `option/schema` for what is no schema, not supported, or satisfied by no value. */
export function compileSchema(schema: unknown): CompiledSchema {
  const root = copyJson(schema)
  return new CompiledSchema(buildShapes(new SchemaSource(root), { schema: root, path: '#' }))
}

/** As a file would have it, so that nothing changes later and nothing is in it that JSON does not have. */
function copyJson(schema: unknown): unknown {
  let text: string | undefined
  try {
    text = JSON.stringify(schema)
  } catch (cause) {
    throw new EngineError('option/schema', { message: 'The schema cannot be written as JSON.', cause })
  }
  if (text === undefined || text.length > MAX_SCHEMA_LENGTH) {
    throw new EngineError('option/schema', {
      message:
        text === undefined
          ? 'The schema must be an object, true or false.'
          : `The schema has ${text.length} characters; at most ${MAX_SCHEMA_LENGTH} are taken.`,
    })
  }
  const copy: unknown = JSON.parse(text)
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: copy, depth: 0 }]
  for (const { value, depth } of open) {
    if (typeof value !== 'object' || value === null) continue
    if (depth === MAX_SCHEMA_DEPTH) {
      throw new EngineError('option/schema', {
        message: `The schema has more than ${MAX_SCHEMA_DEPTH} levels.`,
      })
    }
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 })
  }
  return copy
}

export interface ConstraintSetting {
  /** What each token adds to the text; empty for control tokens. */
  readonly vocabulary: TokenBytes
  readonly walks: WordWalks
  readonly stopTokens: ReadonlySet<number>
  /** A space may come before the answer, because whoever shows it drops it. */
  readonly allowsSpace: boolean
}

export class SchemaConstraint {
  readonly #grammar: Grammar
  readonly #setting: ConstraintSetting
  #state: GrammarState

  constructor(schema: CompiledSchema, setting: ConstraintSetting) {
    this.#setting = setting
    this.#grammar = new Grammar(schema.rootPlace(setting.allowsSpace))
    this.#state = this.#grammar.start
  }

  /** The answer is whole and nothing may follow it. */
  get isComplete(): boolean {
    return this.#state.canEnd && this.#state.readings.length === 0
  }

  /** Sets the logits of all tokens that may not come next to -Infinity. Throws `text/vocabulary` when none may. */
  restrict(logits: Float32Array): void {
    const { walks, stopTokens } = this.#setting
    const mask = maskOf(walks, this.#grammar, this.#state)
    if (this.#state.canEnd) {
      for (const id of stopTokens) mask[id >>> 5] = (mask[id >>> 5] as number) | (1 << (id & 31))
    }
    if (!applyMask(mask, logits)) {
      throw new EngineError('text/vocabulary', {
        message: 'No token of the vocabulary goes on with the answer as its schema wants it.',
        hint: 'The vocabulary lacks tokens for single bytes; use a schema of plain ASCII, or another model.',
      })
    }
  }

  /** Takes the token that was chosen; not for stop tokens. Throws when it may not come. */
  accept(id: number): void {
    for (const byte of this.#setting.vocabulary[id] ?? []) {
      const next = this.#grammar.advance(this.#state, byte)
      if (!next) throw new Error(`Token ${id} may not come here.`)
      this.#state = next
    }
  }
}

/** Returns whether any token is left. */
function applyMask(mask: TokenMask, logits: Float32Array): boolean {
  let isAnyLeft = false
  for (let word = 0; word * 32 < logits.length; word++) {
    const bits = mask[word] ?? 0
    const start = word * 32
    const end = Math.min(start + 32, logits.length)
    if (bits === 0) {
      logits.fill(Number.NEGATIVE_INFINITY, start, end)
      continue
    }
    isAnyLeft = true
    for (let id = start; id < end; id++) {
      if (((bits >>> (id - start)) & 1) === 0) logits[id] = Number.NEGATIVE_INFINITY
    }
  }
  return isAnyLeft
}
