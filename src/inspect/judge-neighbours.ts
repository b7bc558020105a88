/** A second look at matrices, beside others that read or write the same numbers. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { type Directions, measureAlignment, measureDirections } from './alignment.ts'
import { type MatrixVerdict, TRAINED_Z } from './judge-matrix.ts'
import { type MatrixSample, matrixShape, readColumnSample, readMatrixSample } from './matrix-sample.ts'
import type { ModelPart } from './model-part.ts'

export interface JudgedMatrix {
  readonly tensor: TensorInfo
  readonly part: ModelPart
  readonly role: string
  readonly layer: number | undefined
  readonly verdict: MatrixVerdict
}

export interface NeighbourOptions {
  /** Width of the vision tower, where it is known. */
  readonly visionDim: number | undefined
}

/** Columns need all rows; larger matrices than the projector of a 2B model are not read for them. */
const MAX_COLUMN_ELEMENTS = 2 ** 25
const COLUMN_VECTORS = 256
/** Neighbours that are asked; each costs some comparisons of a fraction of a second. */
const MAX_NEIGHBOURS = 6

/** Whether a matrix without structure of its own agrees with trained neighbours, as only a trained one can. */
export async function knowsNeighbours(
  suspect: JudgedMatrix,
  judged: readonly JudgedMatrix[],
  options: NeighbourOptions,
): Promise<boolean> {
  const neighbours = judged.filter(
    (other) => other.verdict.looks === 'trained' && isNeighbour(suspect, other),
  )
  const spaces = await readDirections(suspect, options)
  const lengths = spaces.map(({ length }) => length)
  for (const neighbour of spread(neighbours, MAX_NEIGHBOURS)) {
    for (const theirs of await readDirections(neighbour, options, lengths)) {
      for (const ours of spaces) {
        if (measureAlignment(ours, theirs) > TRAINED_Z) return true
      }
    }
  }
  return false
}

/** Within a layer, or where parts meet. */
function isNeighbour(a: JudgedMatrix, b: JudgedMatrix): boolean {
  if (a.part === b.part) return a.layer === b.layer || a.part === 'projector'
  const parts = [a.part, b.part]
  if (parts.includes('projector')) return true
  return parts.includes('layers') && (parts.includes('embedding') || parts.includes('head'))
}

/**
 * How well a projector agrees with the decoder and with the vision tower: the largest distance from chance over several
 * of their matrices. Undefined where there is nothing to compare.
 */
export async function projectorAlignment(
  judged: readonly JudgedMatrix[],
  options: NeighbourOptions,
): Promise<{ decoder: number | undefined; vision: number | undefined }> {
  const projectors = judged.filter(({ part }) => part === 'projector')
  const [first, last] = [projectors[0], projectors.at(-1)]
  if (!first || !last) return { decoder: undefined, vision: undefined }
  const written = await readDirections(last, options, [matrixShape(last.tensor).rows])
  const read = await readDirections(first, options, [options.visionDim ?? matrixShape(first.tensor).columns])
  return {
    // Keys and values read what the projector writes; these matrices write what it reads.
    decoder: await farthest(written, 'layers', [/attn_v|v_proj/, /attn_k|k_proj/]),
    vision: await farthest(read, 'vision', [/attn_out|out_proj/, /ffn_down|ffn_up|fc2/]),
  }

  /** Undefined with fewer than three comparisons: one pair may agree or not by chance. */
  async function farthest(
    spaces: readonly Directions[],
    part: ModelPart,
    roles: readonly RegExp[],
  ): Promise<number | undefined> {
    const others = roles.flatMap((role) =>
      spread(
        judged.filter((other) => other.part === part && role.test(other.role)),
        MAX_NEIGHBOURS,
      ),
    )
    const distances: number[] = []
    for (const other of others) {
      const lengths = spaces.map(({ length }) => length)
      for (const theirs of await readDirections(other, options, lengths))
        for (const ours of spaces) distances.push(measureAlignment(ours, theirs))
    }
    return distances.length < 3 ? undefined : Math.max(...distances)
  }
}

function spread<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as Item)
}

/**
 * The vectors of a matrix that live in spaces it shares with others: its rows, in the space that it reads, and its columns,
 * in the one that it writes. A projector that reads several patches at once (pixel shuffle) has a vector for each.
 * @param lengths Only vectors of these lengths. Default: all.
 */
async function readDirections(
  { tensor, part }: JudgedMatrix,
  { visionDim }: NeighbourOptions,
  lengths?: readonly number[],
): Promise<Directions[]> {
  const { rows, columns } = matrixShape(tensor)
  const isShuffled =
    part === 'projector' && visionDim !== undefined && columns > visionDim && columns % visionDim === 0
  const length = isShuffled ? visionDim : columns
  const directions: Directions[] = []
  if (lengths?.includes(length) ?? true) {
    const { values } = await readMatrixSample(tensor)
    const split: MatrixSample = {
      rows: values.length / length,
      totalRows: (rows * columns) / length,
      columns: length,
      values,
    }
    directions.push(measureDirections(split))
  }
  if ((lengths?.includes(rows) ?? true) && rows * columns <= MAX_COLUMN_ELEMENTS)
    directions.push(measureDirections(await readColumnSample(tensor, COLUMN_VECTORS)))
  return directions
}
