/** Onsight in Node: vision-language models on this machine. */
import { fileURLToPath } from 'node:url'
import { loadModelOn } from '../engine/load-model.ts'
import type { LoadModelOptions, Model, SnapshotSource, SnapshotText } from '../engine/types.ts'
import { createSnapshotFiles } from '../host/node/snapshot-files.ts'
import { createEngineHost } from './engine-host.node.ts'

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
export { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'

/**
 * Loads a model: a folder of a Hugging Face repository, a `.gguf` file (its mmproj file is found beside it), a stored model
 * (`smolvlm-500m`, `owner/name`), or `tiny`, which comes with the package. A folder of that name is `./tiny`.
 *
 * @example
 * const model = await loadModel('./SmolVLM-500M-Instruct')
 * const chat = model.chat()
 * for await (const event of chat.send({ text: 'What is in front of me?', images: ['photo.jpg'] })) {
 *   if (event.type === 'text-delta') process.stdout.write(event.text)
 * }
 * await model.dispose()
 */
export function loadModel(reference: string, options: LoadModelOptions = {}): Promise<Model> {
  const path = reference === 'tiny' ? bundledModelPath() : reference
  return loadModelOn(createEngineHost(), path, options)
}

/** Path of the tiny model that comes with the package. It knows icon-like objects, coloured shapes and short signs. */
export function bundledModelPath(): string {
  return fileURLToPath(new URL('../../models/tiny', import.meta.url))
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
