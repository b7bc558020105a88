/** Which of the GGUF files beside a text model is its projector: told by what is in them, not by their names. */
import { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
import { optional, requireNumber, requireString } from '../formats/gguf/metadata.ts'
import { isProjector, outputWidth } from '../formats/gguf/projector.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'

/** Files of a folder that are looked into; a folder of more models than this wants the user's word. */
const MAX_CANDIDATES = 64

export interface FoundProjector {
  /** Open; undefined when none fits. */
  readonly projector: GgufFile | undefined
  readonly warnings: readonly string[]
}

/**
 * Looks beside a text model for a projector of its width. Of several that fit, the one whose name shares the longest
 * beginning with the model's, "mmproj-" left out; a tie is an error that lists them.
 */
export async function findProjector(
  folder: ModelFolder,
  modelFileName: string,
  text: GgufFile,
): Promise<FoundProjector> {
  const names = (await folder.list())
    .filter((name) => name.endsWith('.gguf') && name !== modelFileName)
    .sort()
  const widthKey = `${requireString(text, 'general.architecture')}.embedding_length`
  const width = optional(text, widthKey, requireNumber)
  const opened: GgufFile[] = []
  const fitting: { name: string; gguf: GgufFile }[] = []
  const others: string[] = []
  const warnings: string[] = []
  let chosen: (typeof fitting)[number] | undefined
  try {
    for (const name of names.slice(0, MAX_CANDIDATES)) {
      const gguf = await loadCandidate(folder, name, warnings)
      if (!gguf) continue
      opened.push(gguf)
      if (!isProjector(gguf)) continue
      const found = outputWidth(gguf)
      if (width !== undefined && found === width) fitting.push({ name, gguf })
      else others.push(`${name} (${found ?? 'unknown'})`)
    }
    chosen = chooseByName(modelFileName, fitting)
  } finally {
    await Promise.all(opened.filter((one) => one !== chosen?.gguf).map(({ source }) => source.close()))
  }
  if (chosen) return { projector: chosen.gguf, warnings: [] }
  if (others.length > 0) {
    warnings.push(
      `No projector beside ${modelFileName} fits its width ${width}: ${others.join(', ')}. Pictures are off.`,
    )
  }
  return { projector: undefined, warnings }
}

/** A broken neighbour does not stop the model, but it may have been its projector. */
async function loadCandidate(
  folder: ModelFolder,
  name: string,
  warnings: string[],
): Promise<GgufFile | undefined> {
  let source: ByteSource | undefined
  try {
    source = await folder.open(name)
    return await loadGguf(source)
  } catch (error) {
    await source?.close()
    if (!EngineError.isInstance(error)) throw error
    warnings.push(`${name} was passed over: ${error.message}`)
    return undefined
  }
}

function chooseByName<Candidate extends { name: string }>(
  modelFileName: string,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const score = ({ name }: Candidate): number => nameLikeness(name, modelFileName)
  const sorted = [...candidates].sort((a, b) => score(b) - score(a))
  const [first, second] = sorted
  if (first && second && score(first) === score(second)) {
    throw new EngineError('model/ambiguous-projector', {
      message: `Several projectors fit ${modelFileName}: ${sorted.map(({ name }) => name).join(', ')}.`,
      hint: 'Name one with --mmproj.',
    })
  }
  return first
}

/** How many characters a projector's name, "mmproj-" left out, shares with the beginning of the model's. */
export function nameLikeness(projectorName: string, modelFileName: string): number {
  const name = projectorName.replace(/^mmproj[-_.]?/i, '').toLowerCase()
  const other = modelFileName.toLowerCase()
  let length = 0
  while (length < Math.min(name.length, other.length) && name[length] === other[length]) length++
  return length
}
