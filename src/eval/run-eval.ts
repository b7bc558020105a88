/** Several variants of a model on one set of questions, compared with the model in full precision. */
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import type { Recipe } from '../convert/recipe.ts'
import { assembleModel, type PreparedModel, prepareModel } from '../engine/assemble-model.ts'
import { buildChatPrompt } from '../engine/build-prompt.ts'
import type { Calibration } from '../engine/calibrate.ts'
import { Conversation } from '../engine/conversation.ts'
import { type ConvertHost, convertModelOn, projectorPath } from '../engine/convert-model.ts'
import { measureDivergence } from '../engine/divergence.ts'
import { forceAnswer } from '../engine/forced-answer.ts'
import { encodeAnswer, setDialogues } from '../engine/full-precision.ts'
import type { LoadedModel } from '../engine/loaded-model.ts'
import { openCheckpoint } from '../engine/open-checkpoint.ts'
import { finishPicture, preparePicture } from '../engine/picture.ts'
import type { SetItem } from '../engine/question-set.ts'
import type { LoadModelOptions } from '../engine/types.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { type ByteSource, readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { ScratchFolder } from '../shared/pending-file.ts'
import { scoreAnswer } from './metrics.ts'
import { type QuestionResult, ResultLog, type ResultStore } from './result-log.ts'
import { summarize, type VariantResults, type VariantSummary } from './summary.ts'

export interface EvalHost extends ConvertHost {
  createScratch(): Promise<ScratchFolder>
}

/** A recipe, or a GGUF file that was converted before. */
export type Variant = (
  | { readonly name: string; readonly recipe: Recipe }
  | { readonly name: string; readonly path: string }
) & {
  /** Most tokens of a picture. Full precision, which all are compared with, has no limit. */
  readonly imageTokens?: number
}

export interface EvalOptions {
  readonly items: readonly SetItem[]
  /** What tells this set from others, for resuming. */
  readonly setName: string
  readonly resolvePicture: (name: string) => string
  readonly variants: readonly Variant[]
  /** The mmproj file of a GGUF model. */
  readonly projector?: string
  /** For recipes that search. */
  readonly calibration?: Calibration
  readonly results?: ResultStore
  /** Longest answer. Default 128. */
  readonly maxTokens?: number
  readonly threads?: number
  readonly onProgress?: (progress: EvalProgress) => void
  readonly signal?: AbortSignal
}

export interface EvalProgress {
  /** The variant's name, or `full precision`. */
  readonly variant: string
  readonly done: number
  readonly total: number
}

export interface EvalReport {
  readonly model: string
  readonly set: string
  readonly questions: number
  /** What others are compared with: f16 where it is among the variants, else the first. */
  readonly baseline: string
  readonly variants: readonly VariantSummary[]
}

const MAX_ANSWER_TOKENS = 128
const REFERENCE_FILE = 'full-precision.bin'
const VARIANT_FILE = 'variant.gguf'

export async function runEval(host: EvalHost, reference: string, options: EvalOptions): Promise<EvalReport> {
  const { items, variants, setName } = options
  const names = new Set(variants.map(({ name }) => name))
  if (variants.length === 0 || names.size < variants.length) {
    throw new EngineError('option/recipes', {
      message: `Expected recipes that differ in name, found ${variants.map(({ name }) => name).join(', ') || 'none'}.`,
    })
  }
  const opened = await openCheckpoint(host.files, reference, options.projector)
  const scratch = await host.createScratch()
  let expectations: Expectations | undefined
  try {
    const prepared = await prepareModel(opened)
    const subject = `${prepared.name} (${prepared.fileBytes} bytes), ${setName}, up to ${options.maxTokens ?? MAX_ANSWER_TOKENS} tokens`
    const log = await ResultLog.open(options.results, subject)
    const isOpen = (item: SetItem): boolean =>
      variants.some(({ name }) => item.turns.some((_, turn) => !log.find(name, item.id, turn)))
    expectations = await expect(host, prepared, items.filter(isOpen), scratch, options)
    const outcomes: VariantResults[] = []
    for (const variant of variants) {
      outcomes.push(await evaluateVariant(host, reference, variant, scratch, expectations, log, options))
    }
    const baseline = outcomes.find(({ name }) => name === 'f16') ?? (outcomes[0] as VariantResults)
    return {
      model: prepared.name,
      set: setName,
      questions: items.reduce((sum, { turns }) => sum + turns.length, 0),
      baseline: baseline.name,
      variants: summarize(outcomes, baseline),
    }
  } finally {
    await expectations?.source.close()
    await scratch.dispose()
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

/** What the model in full precision expects along the right answers, kept on disk: sets times vocabularies are large. */
interface Expectations {
  readonly source: ByteSource
  /** By item and turn, from which byte on. */
  readonly offsets: ReadonlyMap<string, number>
}

async function expect(
  host: EvalHost,
  prepared: PreparedModel,
  items: readonly SetItem[],
  scratch: ScratchFolder,
  options: EvalOptions,
): Promise<Expectations> {
  const path = scratch.pathOf(REFERENCE_FILE)
  const file = await host.output.createFile(path)
  const offsets = new Map<string, number>()
  let offset = 0
  try {
    if (items.length > 0) {
      await withLoaded(host, prepared, { ...options, precision: 'f32' }, async (loaded) => {
        for (const [index, item] of items.entries()) {
          for (const [turn, logits] of (await expectItem(loaded, item, options)).entries()) {
            await file.write(new Uint8Array(logits.buffer))
            offsets.set(`${turn} ${item.id}`, offset)
            offset += logits.byteLength
          }
          options.onProgress?.({ variant: 'full precision', done: index + 1, total: items.length })
        }
      })
    }
    await file.seal()
    await file.publish()
  } finally {
    await file.discard()
  }
  const { folder, fileName } = await host.files.locateModel(path)
  return { source: await folder.open(fileName ?? REFERENCE_FILE), offsets }
}

/** Logits along the right answer of each turn, earlier turns answered as in the set. */
async function expectItem(
  loaded: LoadedModel,
  item: SetItem,
  { resolvePicture, signal }: EvalOptions,
): Promise<Float32Array[]> {
  const pictures = []
  try {
    for (const name of item.pictures) {
      const picture = await preparePicture(loaded, resolvePicture(name), { detail: 'auto' }, signal)
      pictures.push(await finishPicture(loaded, picture, signal))
    }
    const logits: Float32Array[] = []
    for (const { messages, answer = '' } of setDialogues(item)) {
      const prompt = buildChatPrompt(loaded, messages, pictures)
      logits.push(await forceAnswer(loaded, prompt, encodeAnswer(loaded, messages, answer), signal))
    }
    return logits
  } finally {
    for (const { features } of pictures) loaded.backend.free(features)
  }
}

async function evaluateVariant(
  host: EvalHost,
  reference: string,
  variant: Variant,
  scratch: ScratchFolder,
  expectations: Expectations,
  log: ResultLog,
  options: EvalOptions,
): Promise<VariantResults> {
  const { items, signal } = options
  const { name, imageTokens } = variant
  const isMade = 'recipe' in variant
  const path = isMade ? scratch.pathOf(VARIANT_FILE) : variant.path
  if ('recipe' in variant) await convertVariant(host, reference, variant.recipe, path, options)
  const opened = await openCheckpoint(host.files, path)
  try {
    const byteLength = opened.sources.reduce((sum, source) => sum + source.byteLength, 0)
    const isMissing = (item: SetItem): boolean => item.turns.some((_, turn) => !log.find(name, item.id, turn))
    if (items.some(isMissing)) {
      const prepared = await prepareModel(opened)
      const settings = { ...options, ...(imageTokens !== undefined && { imageTokens }) }
      await withLoaded(host, prepared, settings, async (loaded) => {
        for (const [index, item] of items.entries()) {
          throwIfAborted(signal)
          if (isMissing(item)) {
            for (const result of await evaluateItem(loaded, name, item, expectations, options))
              await log.add(result)
          }
          options.onProgress?.({ variant: name, done: index + 1, total: items.length })
        }
      })
    }
    const results = items.flatMap((item) =>
      item.turns.map((_, turn) => log.find(name, item.id, turn) as QuestionResult),
    )
    return { name, byteLength, results }
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
    if (isMade) for (const made of [VARIANT_FILE, projectorPath(VARIANT_FILE)]) await scratch.remove(made)
  }
}

async function convertVariant(
  host: EvalHost,
  reference: string,
  recipe: Recipe,
  path: string,
  { calibration, projector, threads, signal }: EvalOptions,
): Promise<void> {
  await convertModelOn(host, reference, path, {
    recipe,
    ...(projector !== undefined && { projector }),
    ...(calibration && recipe.search && { calibration }),
    ...(threads !== undefined && { threads }),
    ...(signal && { signal }),
  })
}

async function evaluateItem(
  loaded: LoadedModel,
  variant: string,
  item: SetItem,
  { source, offsets }: Expectations,
  options: EvalOptions,
): Promise<QuestionResult[]> {
  const texts = await answerItem(loaded, item, options)
  const logits = await expectItem(loaded, item, options)
  const { vocabSize } = loaded.model.config.decoder
  const results: QuestionResult[] = []
  for (const [turn, { answers }] of item.turns.entries()) {
    const found = logits[turn] as Float32Array
    const bytes = await readBytes(source, offsets.get(`${turn} ${item.id}`) as number, found.byteLength)
    const text = texts[turn] as string
    results.push({
      variant,
      item: item.id,
      turn,
      text,
      ...scoreAnswer(text, answers),
      ...measureDivergence(new Float32Array(bytes.buffer), found, vocabSize),
    })
  }
  return results
}

/** As a user would ask: one conversation, earlier turns answered by the model itself. */
async function answerItem(
  loaded: LoadedModel,
  item: SetItem,
  { resolvePicture, maxTokens = MAX_ANSWER_TOKENS, signal }: EvalOptions,
): Promise<string[]> {
  const chat = new Conversation(loaded, {}, () => {})
  const texts: string[] = []
  try {
    for (const [turn, { ask }] of item.turns.entries()) {
      const images = turn === 0 ? item.pictures.map(resolvePicture) : []
      let text = ''
      const events = chat.send(
        { text: ask, images },
        { maxTokens, temperature: 0, ...(signal && { signal }) },
      )
      for await (const event of events) if (event.type === 'answer-finished') text = event.text
      throwIfAborted(signal)
      texts.push(text)
    }
    return texts
  } finally {
    chat.dispose()
  }
}

async function withLoaded(
  host: EvalHost,
  prepared: PreparedModel,
  {
    threads,
    precision = 'auto',
    imageTokens,
    signal,
  }: Pick<LoadModelOptions, 'threads' | 'precision' | 'imageTokens' | 'signal'>,
  use: (loaded: LoadedModel) => Promise<void>,
): Promise<void> {
  const backend = await createWasmBackend(host.workers, threads === undefined ? {} : { threads })
  try {
    const settings = {
      precision,
      ...(imageTokens !== undefined && { imageTokens }),
      ...(signal && { signal }),
    }
    await use(await assembleModel(prepared, backend, host, settings))
  } finally {
    await backend.dispose()
  }
}
