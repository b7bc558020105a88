/** From files at hand to a stored model. */
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'
import { ContentHash } from './content-hash.ts'
import { chooseImportedFiles } from './imported-files.ts'
import type { StoredFile } from './manifest.ts'
import type { ModelStore } from './model-store.ts'
import type { HubPorts } from './ports.ts'
import type { PullEvent, PullResult } from './pull.ts'
import { LOCAL_OWNER, localName } from './reference.ts'
import { checkSpace, describeNeed } from './space.ts'
import type { DraftStorage } from './storage.ts'

/** Read and written at once: large enough for full disk speed, small beside any budget. */
const PIECE_BYTES = 4 * 2 ** 20
const REVISION_LENGTH = 40

export interface ImportOptions {
  /** What the model is called from then on. Letters, digits, ".", "_" and "-"; default made from the file's name. */
  readonly name?: string
  readonly signal?: AbortSignal
  /** The same events as those of a download. */
  readonly onEvent?: (event: PullEvent) => void
}

/** See `ModelHub.importFiles`. */
export async function importModel(
  folder: ModelFolder,
  { name, signal, onEvent = () => {} }: ImportOptions,
  { ports, store }: { readonly ports: HubPorts; readonly store: ModelStore },
): Promise<PullResult> {
  await store.checkWritable()
  const chosen = await chooseImportedFiles(folder)
  throwIfAborted(signal)
  const id = `${LOCAL_OWNER}/${localName(name, chosen.variant === 'safetensors' ? folder.name : chosen.variant)}`
  const target = { id, variant: chosen.variant }
  const draft = await store.openDraft(target)
  let isStored = false
  try {
    // What an import that was interrupted has left is no beginning: copying again is quick.
    for (const part of (await draft.listParts()).keys()) await draft.removePart(part)
    const files = await copyAll(folder, chosen.names, id, { draft, ports, store, signal, onEvent })
    const revision = revisionOf(files, ports)
    const model = await store.commit(draft, {
      ...target,
      revision,
      requestedRevision: 'import',
      source: 'files of this device',
      committedAt: new Date(ports.clock.now()).toISOString(),
      files,
    })
    isStored = true
    return { model, wasStored: false }
  } finally {
    await draft.release()
    if (!isStored) await store.removeDraft(target)
  }
}

interface CopyContext {
  readonly draft: DraftStorage
  readonly ports: HubPorts
  readonly store: ModelStore
  readonly signal: AbortSignal | undefined
  readonly onEvent: (event: PullEvent) => void
}

async function copyAll(
  folder: ModelFolder,
  names: readonly string[],
  id: string,
  context: CopyContext,
): Promise<StoredFile[]> {
  const sizes = new Map<string, number>()
  for (const name of names) {
    const source = await folder.open(name)
    sizes.set(name, source.byteLength)
    await source.close()
  }
  const totalBytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  await checkSpace(id, totalBytes, context.store)
  context.onEvent({
    type: 'plan-made',
    id,
    revision: 'import',
    licence: undefined,
    files: names.map((name) => ({ name, byteLength: sizes.get(name), keptBytes: 0 })),
    totalBytes,
    keptBytes: 0,
  })
  const files: StoredFile[] = []
  let copiedBytes = 0
  for (const name of names) {
    try {
      files.push(
        await copyFile(folder, name, context, (bytes) => {
          copiedBytes += bytes
        }),
      )
    } catch (error) {
      throw describeNeed(error, id, totalBytes - copiedBytes)
    }
  }
  return files
}

async function copyFile(
  folder: ModelFolder,
  name: string,
  { draft, ports, signal, onEvent }: CopyContext,
  onCopied: (bytes: number) => void,
): Promise<StoredFile> {
  const source = await folder.open(name)
  const part = await draft.openPart(name)
  try {
    onEvent({ type: 'file-started', file: name, fromByte: 0 })
    const { byteLength } = source
    const hash = new ContentHash(ports, { byteLength, sha256: undefined, gitSha1: undefined })
    const buffer = new Uint8Array(Math.min(PIECE_BYTES, byteLength))
    for (let offset = 0; offset < byteLength; offset += buffer.byteLength) {
      throwIfAborted(signal)
      const piece = buffer.subarray(0, Math.min(buffer.byteLength, byteLength - offset))
      await source.readInto(piece, offset)
      await part.write(piece, offset)
      hash.update(piece)
      onCopied(piece.byteLength)
      onEvent({ type: 'bytes-received', file: name, receivedBytes: part.byteLength })
    }
    throwIfAborted(signal)
    await part.flush()
    const sha256 = hash.finish(name)
    if (EngineError.isInstance(sha256)) throw sha256
    onEvent({ type: 'file-verified', file: name, sha256 })
    return { name, byteLength, sha256 }
  } finally {
    await part.close()
    await source.close()
  }
}

/** Names the content, as a commit does: the same files give the same model. */
function revisionOf(files: readonly StoredFile[], ports: HubPorts): string {
  const hasher = ports.createHash('sha256')
  for (const { name, sha256 } of files) hasher.update(new TextEncoder().encode(`${name} ${sha256}\n`))
  return hasher.digestHex().slice(0, REVISION_LENGTH)
}
