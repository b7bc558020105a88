/** Onsight in a browser: vision-language models on this device, in a page or in a worker. */
import { loadModelOn } from '../engine/load-model.ts'
import type { LoadModelOptions, Model, SnapshotSource, SnapshotText } from '../engine/types.ts'
import { createBrowserFileHost, type ModelReference } from '../host/browser/file-host.ts'
import { createImageDecoder } from '../host/browser/image-decoder.ts'
import { createSnapshotFiles } from '../host/browser/snapshot-files.ts'
import { type BrowserWorkerOptions, createBrowserWorkerHost } from '../host/browser/worker-host.ts'
import { EngineError } from '../shared/errors.ts'

export type {
  AnswerFinished,
  Chat,
  ChatEvent,
  ChatOptions,
  ChatTurn,
  ChoiceProbability,
  ConversationTurn,
  Detail,
  Embedding,
  EmbedOptions,
  FinishReason,
  GenerationOptions,
  ImageInput,
  ImageReport,
  JsonSchema,
  LoadModelOptions,
  LoadProgress,
  MemoryPart,
  MemoryPlan,
  Model,
  ModelInfo,
  PrecisionName,
  ScoredAnswerToken,
  SnapshotHandle,
  SnapshotOptions,
  SnapshotSource,
  SnapshotTarget,
  SnapshotText,
  Timings,
  TokenLogprob,
  TraceRequest,
  TraceTensor,
  Usage,
  UserMessage,
  WarmUpOptions,
  WhenFull,
} from '../engine/types.ts'
export type { ModelReference } from '../host/browser/file-host.ts'
export type { BrowserWorkerOptions } from '../host/browser/worker-host.ts'
export { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'

/**
 * Loads a model: the address of a folder as Hugging Face publishes it or of a `.gguf` file (whose mmproj file the option
 * `projector` names), files that a person picked, or a directory handle.
 *
 * Several threads need a page that is cross-origin isolated; elsewhere there is one. Tokens and pictures are prepared on
 * the calling thread, large pictures in slices of 20 ms, so pages that must stay smooth call this in a worker.
 *
 * @example
 * const model = await loadModel(input.files)
 * const chat = model.chat()
 * for await (const event of chat.send({ text: 'What is in front of me?', images: [photo] }))
 *   if (event.type === 'text-delta') output.append(event.text)
 * await model.dispose()
 */
export async function loadModel(
  reference: ModelReference,
  { worker, ...options }: LoadModelOptions & BrowserWorkerOptions = {},
): Promise<Model> {
  if (worker !== undefined && typeof worker !== 'function') {
    throw new EngineError('option/invalid', {
      message: `The option "worker" must be a function that starts a Worker; found ${typeof worker}.`,
    })
  }
  const { name, host: files } = createBrowserFileHost(reference)
  const workers = createBrowserWorkerHost(worker ? { worker } : {})
  return loadModelOn(
    { workers, files, images: createImageDecoder(), snapshots: createSnapshotFiles() },
    name,
    options,
  )
}

/**
 * What was said in a conversation that `chat.save` wrote, whichever model and version wrote it, also where the rest of the
 * file is damaged or missing.
 *
 * Throws `snapshot/not-a-snapshot`, or `snapshot/truncated` or `snapshot/damaged` where the text itself is.
 *
 * @example
 * const { turns } = await readSnapshotText('chat.snapshot')
 * const chat = model.chat({ messages: turns })
 */
export async function readSnapshotText(from: SnapshotSource): Promise<SnapshotText> {
  const { loadSnapshotText } = await import('../engine/snapshot/text-record.ts')
  return loadSnapshotText(createSnapshotFiles(), from)
}
