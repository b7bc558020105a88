/** What the rows of the embedding say about the tokenizer: whether they mean what the tokens spell. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { decodeBlocks, isDecodable } from '../quant/decode.ts'
import { byteLengthOf } from '../quant/tensor-types.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { Findings } from './finding.ts'
import { dotRows } from './weight-statistics.ts'

/** Pairs of a word with and without its leading space. */
const PAIRS = 256
/**
 * Such pairs have a mean cosine of 0.3 to 0.6 in trained language models (SmolLM2-135M: 0.59, 105 deviations from
 * shuffled pairs) and of 0 when the vocabulary is of another model (-0.4 deviations).
 */
const MIN_PAIR_COSINE = 0.1
const MIN_PAIR_Z = 6
const SHUFFLES = 32
/** Rows of tokens that were never trained stay where one rule put them all. */
const EQUAL_COSINE = 0.999

/** @param turnTokens Control tokens that the chat template writes. */
export async function checkEmbedding(
  embedding: TensorInfo,
  tokenizer: Tokenizer,
  turnTokens: readonly number[],
  findings: Findings,
): Promise<void> {
  const [rows = 0, columns = 0] = embedding.shape
  if (!isDecodable(embedding.type) || embedding.shape.length !== 2) return
  await checkTurnRows()
  await checkPairs()

  async function checkTurnRows(): Promise<void> {
    const ids = [...new Set(turnTokens)].filter((id) => id < rows)
    const values = await readRows(ids)
    const lengths = ids.map((_, index) => Math.sqrt(dotRows(values, index, values, index, columns)))
    const untrained = ids.filter((_, index) => {
      if (lengths[index] === 0) return true
      return ids.some((_, other) => {
        const scale = (lengths[index] as number) * (lengths[other] as number)
        return other !== index && dotRows(values, index, values, other, columns) > EQUAL_COSINE * scale
      })
    })
    if (untrained.length === 0) return
    const names = untrained.map((id) => tokenizer.idToToken(id) ?? String(id))
    findings.add(
      'weights/untrained-tokens',
      `The embedding rows of ${names.join(', ')}, which the chat template writes, are zero or all alike: they were never trained.`,
      { tokens: names, cosineThreshold: EQUAL_COSINE },
    )
  }

  async function checkPairs(): Promise<void> {
    const pairs = findPairs(tokenizer, rows)
    if (pairs.length < PAIRS || findings.has('weights/untrained-embedding')) return
    const spaced = await readRows(pairs.map(([first]) => first))
    const plain = await readRows(pairs.map(([, second]) => second))
    centreAndNormalize([spaced, plain], columns)
    const cosine = (shift: number): number =>
      pairs.reduce(
        (sum, _, index) => sum + dotRows(spaced, index, plain, (index + shift) % pairs.length, columns),
        0,
      ) / pairs.length
    const found = cosine(0)
    const shuffled = Array.from({ length: SHUFFLES }, (_, index) => cosine(index * 7 + 1))
    const mean = shuffled.reduce((sum, value) => sum + value, 0) / SHUFFLES
    const deviation = Math.sqrt(
      shuffled.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (SHUFFLES - 1),
    )
    const z = (found - mean) / deviation
    // Not "and": a wrong vocabulary fails both, and a weak but clear likeness is a likeness.
    if (found >= MIN_PAIR_COSINE || z >= MIN_PAIR_Z) return
    findings.add(
      'text/tokenizer-mismatch',
      `The embedding does not know the vocabulary: tokens that differ in a leading space, such as "the" and " the", have rows with a mean cosine of ${found.toFixed(3)} (expected more than ${MIN_PAIR_COSINE}), ${z.toFixed(1)} deviations from shuffled ones.`,
      { pairs: pairs.length, cosine: found, z, cosineThreshold: MIN_PAIR_COSINE, zThreshold: MIN_PAIR_Z },
    )
  }

  async function readRows(ids: readonly number[]): Promise<Float32Array> {
    const values = new Float32Array(ids.length * columns)
    const rowBytes = byteLengthOf(embedding.type, columns)
    const bytes = new Uint8Array(rowBytes)
    for (const [index, id] of ids.entries()) {
      await embedding.source.readInto(bytes, embedding.byteOffset + id * rowBytes)
      decodeBlocks(embedding.type, bytes, values.subarray(index * columns, (index + 1) * columns))
    }
    return values
  }
}

/** Evenly spaced over the vocabulary; fewer than `PAIRS` when there are no more. */
function findPairs(tokenizer: Tokenizer, rows: number): [number, number][] {
  const all: [number, number][] = []
  const end = Math.min(tokenizer.vocabSize, rows)
  for (let id = 0; id < end; id++) {
    const token = tokenizer.idToToken(id)
    if (token === undefined || !/^[Ġ▁][\p{L}\p{N}]{2,}$/u.test(token)) continue
    const plain = tokenizer.tokenToId(token.slice(1))
    if (plain !== undefined && plain < rows) all.push([id, plain])
  }
  const picked = Math.min(PAIRS, all.length)
  return Array.from(
    { length: picked },
    (_, index) => all[Math.floor((index * all.length) / picked)] as [number, number],
  )
}

function centreAndNormalize(tables: readonly Float32Array[], columns: number): void {
  const mean = new Float64Array(columns)
  const rows = tables.reduce((sum, table) => sum + table.length / columns, 0)
  for (const table of tables)
    for (const [index, value] of table.entries())
      mean[index % columns] = (mean[index % columns] as number) + value / rows
  for (const table of tables) {
    for (let row = 0; row < table.length / columns; row++) {
      const part = table.subarray(row * columns, (row + 1) * columns)
      for (const [column, value] of part.entries()) part[column] = value - (mean[column] as number)
      const length = Math.sqrt(part.reduce((sum, value) => sum + value * value, 0)) || 1
      for (const [column, value] of part.entries()) part[column] = value / length
    }
  }
}
