/**
 * Which files of a repository a model needs. Either safetensors with the configuration and the tokenizer, or GGUF
 * files, which carry everything; one quantisation, one projector, nothing else.
 */
import { EngineError } from '../shared/errors.ts'
import { SMALL_MODEL_FILES } from '../shared/model-files.ts'
import { baseNameOf, parseSplitName, splitPartsOf, weightStemOf } from './file-names.ts'
import { isSameFile } from './reference.ts'

const INDEX_NAME = 'model.safetensors.index.json'
const SINGLE_NAME = 'model.safetensors'
const PICKLE = /\.(bin|pt|pth|ckpt|pkl)$/

/** From the best trade of size for quality on. Projectors are small, so they keep 8 bits or more. */
const TEXT_PREFERENCE = ['Q4_K_M', 'Q8_0', 'Q6_K', 'Q5_K_M', 'Q4_K_S', 'Q5_0', 'Q4_0', 'BF16', 'F16', 'F32']
const PROJECTOR_PREFERENCE = ['Q8_0', 'F16', 'BF16', 'F32']

export interface ChosenFiles {
  readonly variant: string
  /** Paths in the repository. */
  readonly paths: readonly string[]
}

/** @param paths Of all files of the repository. @param wanted What `--file` names: paths, names or quantisations. */
export function chooseFiles(id: string, paths: readonly string[], wanted: readonly string[]): ChosenFiles {
  const named = wanted.map((name) => findWanted(id, paths, name))
  const hasSafetensors = paths.includes('config.json') && listSafetensors(paths).length > 0
  const isGguf = named.some((path) => path.endsWith('.gguf')) || (named.length === 0 && !hasSafetensors)
  return isGguf ? chooseGguf(id, paths, named) : chooseSafetensors(id, paths, named)
}

function findWanted(id: string, paths: readonly string[], wanted: string): string {
  const weights = paths.filter((path) => /\.(gguf|safetensors)$/.test(path))
  const exact = weights.find((path) => isSameFile(path, wanted))
  if (exact !== undefined) return exact
  const tagged = weights.filter((path) => !isProjectorName(path) && hasTag(path, wanted) && isFirstPart(path))
  const [only] = tagged
  if (only !== undefined && tagged.length === 1) return only
  throw new EngineError('hub/no-such-file', {
    message: `${id} has ${only === undefined ? 'no file' : `${tagged.length} files`} for "${wanted}": ${listNames(only === undefined ? weights : tagged)}.`,
    hint: 'Name one of them with --file.',
  })
}

function chooseSafetensors(id: string, paths: readonly string[], named: readonly string[]): ChosenFiles {
  const available = listSafetensors(paths)
  const [first = defaultSafetensors(paths, available), ...more] = named
  if (first === undefined || more.length > 0) {
    throw new EngineError('hub/ambiguous-file', {
      message: `${id}: expected one file or one set of safetensors, found ${listNames(more.length > 0 ? named : available)}.`,
      hint: 'Name one with --file; of a set, any part.',
    })
  }
  if (!available.includes(first)) {
    throw new EngineError('hub/no-such-file', {
      message: `${id}: ${first} lies in a folder of the repository; expected weights beside config.json.`,
      hint: `Choose one of ${listNames(available)}.`,
    })
  }
  const shards = splitPartsOf(first)
  const weights = shards.length > 1 ? [INDEX_NAME, ...shards] : shards
  requireAll(id, paths, weights)
  const stem = weightStemOf(first)
  const small = SMALL_MODEL_FILES.filter((name) => paths.includes(name))
  return { variant: stem === 'model' ? 'safetensors' : stem, paths: [...small, ...weights] }
}

function defaultSafetensors(paths: readonly string[], available: readonly string[]): string | undefined {
  const shard = paths.includes(INDEX_NAME)
    ? available.find((path) => parseSplitName(path)?.stem === 'model')
    : undefined
  if (shard !== undefined || available.includes(SINGLE_NAME)) return shard ?? SINGLE_NAME
  const firsts = available.filter(isFirstPart)
  return firsts.length === 1 ? firsts[0] : undefined
}

function chooseGguf(id: string, paths: readonly string[], named: readonly string[]): ChosenFiles {
  const ggufs = paths.filter((path) => path.endsWith('.gguf'))
  const namedText = named.filter((path) => !isProjectorName(path))
  const namedProjectors = named.filter(isProjectorName)
  if (namedText.length > 1 || namedProjectors.length > 1) {
    throw new EngineError('hub/ambiguous-file', {
      message: `${id}: expected one text model and one projector, found ${listNames(named)}.`,
      hint: 'Name at most one of each with --file.',
    })
  }
  const texts = ggufs.filter((path) => !isProjectorName(path) && isFirstPart(path))
  const text = namedText[0] ?? preferred(texts, TEXT_PREFERENCE, '')
  if (text === undefined) throw noWeights(id, paths)
  const projectors = ggufs.filter((path) => isProjectorName(path))
  const projector = namedProjectors[0] ?? preferred(projectors, PROJECTOR_PREFERENCE, weightStemOf(text))
  const parts = splitPartsOf(text)
  requireAll(id, paths, parts)
  const chosen = projector === undefined ? parts : [...parts, projector]
  const stems = projector === undefined ? [weightStemOf(text)] : [weightStemOf(text), weightStemOf(projector)]
  return { variant: stems.join('+'), paths: chosen }
}

/** Of the candidates whose names agree longest with `stem`, the one whose quantisation is preferred. */
function preferred(
  candidates: readonly string[],
  order: readonly string[],
  stem: string,
): string | undefined {
  const rank = (path: string): number => {
    const index = order.findIndex((tag) => hasTag(path, tag))
    return index < 0 ? order.length : index
  }
  const agreement = (path: string): number => commonWords(weightStemOf(path), stem)
  return [...candidates].sort(
    (a, b) => agreement(b) - agreement(a) || rank(a) - rank(b) || (a < b ? -1 : 1),
  )[0]
}

/** Words that both names begin with, quantisations and "mmproj" left out. */
function commonWords(a: string, b: string): number {
  const words = (name: string): string[] =>
    name
      .toLowerCase()
      .replace(/^mmproj[-_.]?/, '')
      .split(/[-_.]/)
  const [first, second] = [words(a), words(b)]
  let count = 0
  while (
    count < first.length &&
    count < second.length &&
    first[count] === second[count] &&
    !/^(b?f\d|i?q\d)/.test(first[count] ?? '')
  )
    count++
  return count
}

function hasTag(path: string, tag: string): boolean {
  const plain = tag.replace(/[^A-Za-z0-9_]/g, '')
  return plain !== '' && new RegExp(`(^|[-._])${plain}([-._]|$)`, 'i').test(weightStemOf(path))
}

function isProjectorName(path: string): boolean {
  return path.endsWith('.gguf') && /mmproj/i.test(baseNameOf(path))
}

function isFirstPart(path: string): boolean {
  return (parseSplitName(path)?.part ?? 1) === 1
}

/** Beside config.json: files in folders belong to other frameworks. */
function listSafetensors(paths: readonly string[]): string[] {
  return paths.filter((path) => path.endsWith('.safetensors') && !path.includes('/'))
}

function requireAll(id: string, paths: readonly string[], parts: readonly string[]): void {
  const missing = parts.filter((part) => !paths.includes(part))
  if (missing.length === 0) return
  throw new EngineError('hub/missing-part', {
    message: `${id} lacks ${listNames(missing)} of ${parts.length} parts.`,
    hint: 'The repository is incomplete; choose other weights with --file or another revision.',
  })
}

function noWeights(id: string, paths: readonly string[]): EngineError {
  const pickle = paths.find((path) => PICKLE.test(path))
  return pickle === undefined
    ? new EngineError('hub/no-weights', {
        message: `${id}: expected safetensors with config.json or .gguf files, found ${listNames(paths)}.`,
        hint: 'Choose a repository that holds a model in one of these formats.',
      })
    : new EngineError('hub/no-weights', {
        message: `${id} has its weights only as pickle files (${pickle}), which can run programs when they are opened.`,
        hint: 'Look for a safetensors or GGUF version of the same model.',
      })
}

/** Enough to choose from. */
const MAX_LISTED = 12

function listNames(paths: readonly string[]): string {
  if (paths.length === 0) return 'none'
  const shown = paths.slice(0, MAX_LISTED).join(', ')
  return paths.length > MAX_LISTED ? `${shown} and ${paths.length - MAX_LISTED} more` : shown
}
