/** What a model is by its contents, and what is wrong with it. Goes on past every fault that leaves something to say. */
import { loadPreprocessor } from '../engine/load-preprocessor.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import type { ModelConfig } from '../models/model-config.ts'
import { type ParsedCheckpoint, parseCheckpoint } from '../models/registry.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import { checkEmbedding } from './check-embedding.ts'
import { checkNames } from './check-names.ts'
import { checkStructure } from './check-structure.ts'
import { checkText, type TextParts } from './check-text.ts'
import { checkWeights, NOTHING_READ } from './check-weights.ts'
import { describeModel, type ModelReport } from './describe-model.ts'
import { type Finding, Findings } from './finding.ts'
import { cardOfGguf, parseModelCard } from './model-card.ts'
import { engineName, partOf } from './model-part.ts'
import { type OpenedModel, openModel } from './open-model.ts'

export interface InspectOptions {
  /** The mmproj file of a GGUF model. Default: found beside the model by its content. */
  readonly projector?: string
  /** Whether values of weights are looked at. Default true; without, only headers and small files are read. */
  readonly weights?: boolean
  /** Reads every byte of the weights. Default: all up to 256 MB, stretches of every tensor of larger models. */
  readonly deep?: boolean
  /** Reads as little as shows an untrained part, in few requests: for weights behind a network. Default false. */
  readonly sparing?: boolean
  /** Tokens of context to state the memory for. Default: the model's own, at most 8192. */
  readonly contextLength?: number
  /** `done` of `total` steps, which take about the same time each. */
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

export interface Inspection {
  /** No finding is an error. */
  readonly ok: boolean
  readonly model: ModelReport
  /** Errors first. */
  readonly findings: readonly Finding[]
}

/**
 * Reads a model and says what it is and what is wrong with it.
 *
 * @throws EngineError only when there is nothing to read: `file/model-not-found` and errors of the disk or network.
 */
export async function inspectModelOn(
  host: FileHost,
  reference: string,
  options: InspectOptions = {},
): Promise<Inspection> {
  const findings = new Findings()
  const opened = await openModel(await host.locateModel(reference), host, options.projector, findings)
  try {
    return await inspectOpened(opened, reference, options, findings)
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

async function inspectOpened(
  opened: OpenedModel,
  reference: string,
  options: InspectOptions,
  findings: Findings,
): Promise<Inspection> {
  const parsed = understand(opened, findings)
  if (parsed) {
    await checkStructure(parsed.config, parsed.tensors, opened.tensors.keys(), opened.name, findings)
  }
  const hasVision = [...opened.tensors.keys()].some((name) => partOf(name) === 'vision')
  const embedding = findEmbedding(opened)
  const preprocessor = parsed && (await readPictureSettings(opened, parsed.config, findings))
  const text = await readText(opened, embedding, hasVision, findings)
  const card = opened.text ? cardOfGguf(opened.text) : parseModelCard(await readReadme(opened))
  // The mmproj file of a family that is not known may lie anywhere, and its image token may be called anything.
  const maySee = hasVision || (opened.text !== undefined && parsed === undefined)
  checkClaims(opened, reference, maySee, text, findings)
  const read = options.weights === false ? NOTHING_READ : await checkWeights(opened, options, findings)
  if (embedding && text.tokenizer && read.isLocal) {
    await checkEmbedding(embedding, text.tokenizer, text.turnTokens, findings)
    checkBaseModel(opened, reference, findings)
  }
  const model = describeModel({
    name: opened.name,
    container: opened.container,
    architecture: parsed?.config.architecture ?? statedArchitecture(opened),
    config: parsed?.config,
    tensors: opened.tensors,
    preprocessor,
    chatTemplate: text.template?.name,
    card,
    contextLength: options.contextLength,
    bytesRead: read.bytes,
    isWhole: read.isWhole,
  })
  const list = findings.list()
  return { ok: list.every(({ severity }) => severity !== 'error'), model, findings: list }
}

/** The configuration with the tensors by the engine's names; undefined when either cannot be made sense of. */
function understand(opened: OpenedModel, findings: Findings): ParsedCheckpoint | undefined {
  const { name, config, text, projector, tensors } = opened
  const attempt = (checkpoint: Checkpoint): ParsedCheckpoint | undefined => {
    try {
      return parseCheckpoint(checkpoint)
    } catch (error) {
      if (!EngineError.isInstance(error)) throw error
      const isKnown = error.code === 'model/projector-mismatch' && findings.has(error.code)
      if (!isKnown) findings.addError(error, 'config/bad-field')
      return undefined
    }
  }
  if (text) {
    return (
      attempt({ container: 'gguf', name, text, projector }) ??
      // What is wrong with the projector does not hide the text model.
      (projector && attempt({ container: 'gguf', name, text, projector: undefined }))
    )
  }
  if (config === undefined) return undefined
  return attempt({ container: 'safetensors', name, config, tensors })
}

function findEmbedding({ tensors }: OpenedModel): TensorInfo | undefined {
  return [...tensors.values()].find(({ name }) => engineName(name) === 'token_embd.weight')
}

async function readPictureSettings(
  { name, config: raw, text, projector, tensors, files, sources }: OpenedModel,
  config: ModelConfig,
  findings: Findings,
): Promise<PreprocessorSettings | undefined> {
  const checkpoint: Checkpoint = text
    ? { container: 'gguf', name, text, projector }
    : { container: 'safetensors', name, config: raw, tensors }
  try {
    return await loadPreprocessor({ checkpoint, files, sources, warnings: [] }, config)
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    findings.addError(error, 'model/picture-settings')
    return undefined
  }
}

async function readText(
  opened: OpenedModel,
  embedding: TensorInfo | undefined,
  hasVision: boolean,
  findings: Findings,
): Promise<TextParts> {
  const { name, files, config, text, container } = opened
  const hasText =
    text !== undefined ||
    (container === 'safetensors' && opened.tensors.size + Number(config !== undefined) > 0)
  if (!hasText) return { tokenizer: undefined, template: undefined, turnTokens: [] }
  return checkText({ name, files, config, text, embeddingRows: embedding?.shape[0], hasVision }, findings)
}

async function readReadme({ files }: OpenedModel): Promise<string | undefined> {
  try {
    return await files.readText('README.md')
  } catch (error) {
    if (EngineError.isInstance(error)) return undefined
    throw error
  }
}

function checkClaims(
  opened: OpenedModel,
  reference: string,
  hasVision: boolean,
  { tokenizer, template }: TextParts,
  findings: Findings,
): void {
  const { text, projector, tensors } = opened
  if (!text && opened.container === 'gguf') return
  const elements = [...tensors.values()].reduce((sum, { shape }) => sum + elementsOf(shape), 0)
  const codes = [
    'format/truncated',
    'file/missing-shard',
    'format/bad-tensor',
    'format/damaged-header',
  ] as const
  checkNames(
    {
      names: namesOf(opened, reference),
      parameters: elements,
      hasVision,
      isTextHalf: text !== undefined && projector === undefined,
      hasImageToken: tokenizer && tokenizer.tokenToId('<image>') !== undefined,
      hasChatTemplate: template !== undefined,
      isIncomplete: tensors.size === 0 || codes.some((code) => findings.has(code)),
    },
    findings,
  )
}

/** A template that was added to a base model shows in its tokens, which nobody trained. */
function checkBaseModel(opened: OpenedModel, reference: string, findings: Findings): void {
  if (!findings.has('weights/untrained-tokens') || findings.has('name/claims-instruct')) return
  checkNames(
    {
      names: namesOf(opened, reference),
      parameters: 0,
      hasVision: true,
      isTextHalf: false,
      hasImageToken: undefined,
      hasChatTemplate: false,
      isIncomplete: false,
    },
    findings,
  )
}

/** What the file or folder is called, and the names that the model carries inside. */
function namesOf({ name, config, text }: OpenedModel, reference: string): string[] {
  const last = (path: string): string => path.split(/[\\/]/).filter(Boolean).at(-1) ?? path
  const stated = text
    ? ['general.name', 'general.basename', 'general.finetune', 'general.size_label'].map((key) =>
        text.metadata.get(key),
      )
    : [(config as { _name_or_path?: unknown } | undefined)?._name_or_path]
  const inside = stated.filter((value) => typeof value === 'string' && value !== '') as string[]
  return [...new Set([last(reference), last(name), ...inside.map(last)])]
}

function statedArchitecture({ config, text, projector }: OpenedModel): string | undefined {
  const stated =
    (text ?? projector)?.metadata.get('general.architecture') ??
    (config as { model_type?: unknown } | undefined)?.model_type
  return typeof stated === 'string' ? stated : undefined
}

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}
