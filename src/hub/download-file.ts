/**
 * One file of a download: begins or goes on with its part, tries again what may pass, and does not end before the
 * hash is right. What the part holds is always a beginning of the content that the journal names.
 */
import { detectContentKind } from '../formats/content-kind.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { htmlInstead, isWebPage, lengthOf, totalOf } from './answer-content.ts'
import { ContentHash, readPieces } from './content-hash.ts'
import type { HttpAnswer, HttpClient } from './http-client.ts'
import type { Journal, JournalEntry } from './journal.ts'
import type { StoredFile } from './manifest.ts'
import type { PlannedFile } from './plan.ts'
import type { HubPorts } from './ports.ts'
import { Patience, TransientFailure } from './retry.ts'
import type { DraftStorage, PartFile } from './storage.ts'

/** Beginning anew this often means that the server never gives the same content twice. */
const MAX_RESTARTS = 4

export type RestartReason = 'changed' | 'ranges-ignored' | 'wrong-hash'

export type FileEvent =
  | { readonly type: 'file-started'; readonly file: string; readonly fromByte: number }
  /** `receivedBytes` of this file in all; smaller than before after a restart. */
  | { readonly type: 'bytes-received'; readonly file: string; readonly receivedBytes: number }
  | { readonly type: 'file-restarted'; readonly file: string; readonly reason: RestartReason }
  | {
      readonly type: 'retry-scheduled'
      readonly file: string
      readonly failures: number
      readonly delayMs: number
      readonly reason: string
    }
  | { readonly type: 'file-verified'; readonly file: string; readonly sha256: string }

export interface DownloadContext {
  readonly client: HttpClient
  readonly ports: HubPorts
  readonly draft: DraftStorage
  readonly journal: Journal
  readonly gatePage: string | undefined
  readonly signal: AbortSignal
  readonly onEvent: (event: FileEvent) => void
}

export async function downloadFile(file: PlannedFile, context: DownloadContext): Promise<StoredFile> {
  const part = await context.draft.openPart(file.name)
  try {
    return await new FileDownload(file, part, context).run()
  } finally {
    await part.close()
  }
}

/** A hash that the part can be known by. */
export function plannedHash({ sha256, gitSha1 }: PlannedFile): string | undefined {
  return sha256 ?? gitSha1
}

class FileDownload {
  readonly #file: PlannedFile
  readonly #part: PartFile
  readonly #context: DownloadContext
  readonly #patience: Patience
  #hash: ContentHash
  /** Whether the part comes from more than one answer. */
  #isPieced = false
  #restarts = 0

  constructor(file: PlannedFile, part: PartFile, context: DownloadContext) {
    this.#file = file
    this.#part = part
    this.#context = context
    this.#hash = new ContentHash(context.ports, file)
    this.#patience = new Patience({
      clock: context.ports.clock,
      signal: context.signal,
      onRetry: (retry) => context.onEvent({ type: 'retry-scheduled', file: file.name, ...retry }),
    })
  }

  async run(): Promise<StoredFile> {
    await this.#takeUp()
    for (;;) {
      await this.#fill()
      const result = this.#hash.finish(this.#file.name)
      if (typeof result === 'string') return this.#keep(result)
      // Pieces of several answers may not belong together; one whole answer will not get better.
      if (!this.#isPieced) {
        await this.#empty()
        throw result
      }
      await this.#restart('wrong-hash')
    }
  }

  /** Looks at what an earlier run left. */
  async #takeUp(): Promise<void> {
    const file = this.#file
    const context = this.#context
    const entry = context.journal.entry(file.name)
    if (this.#part.byteLength > 0) {
      const isOther = entry === undefined || entry.hash !== plannedHash(file)
      const isTooLong = file.byteLength !== undefined && this.#part.byteLength > file.byteLength
      // Without a name for the content nobody can tell whether the rest still belongs to it.
      const isUnknown = entry?.etag === undefined && entry?.hash === undefined
      if (isOther || isTooLong || isUnknown) await this.#restart('changed')
      else {
        await readPieces(this.#part, (piece) => this.#hash.update(piece), context.signal)
        this.#isPieced = true
      }
    }
    context.onEvent({ type: 'file-started', file: file.name, fromByte: this.#part.byteLength })
  }

  async #keep(sha256: string): Promise<StoredFile> {
    const { name } = this.#file
    const { journal, onEvent } = this.#context
    await this.#part.flush()
    const entry: JournalEntry = { ...journal.entry(name), sha256 }
    await journal.set(name, entry)
    onEvent({ type: 'file-verified', file: name, sha256 })
    return {
      name,
      byteLength: this.#part.byteLength,
      sha256,
      ...(entry.etag !== undefined && { etag: entry.etag }),
    }
  }

  /** Returns when the part is as long as the file. */
  async #fill(): Promise<void> {
    while (!this.#isComplete()) {
      const before = this.#part.byteLength
      try {
        if (await this.#receive()) return
      } catch (error) {
        if (this.#part.byteLength > before) this.#patience.renew()
        await this.#patience.wait(error)
      }
    }
  }

  #isComplete(): boolean {
    return this.#part.byteLength === this.#file.byteLength
  }

  /** One request. @returns Whether the server has nothing more. */
  async #receive(): Promise<boolean> {
    const { client, gatePage, ports, signal } = this.#context
    const { name, address } = this.#file
    const offset = this.#part.byteLength
    this.#isPieced = offset > 0
    let answer: HttpAnswer
    try {
      answer = await client.get(address, {
        what: name,
        signal,
        ...(gatePage !== undefined && { gatePage }),
        headers: offset > 0 || ports.hidesHeaders ? { range: `bytes=${offset}-` } : {},
      })
    } catch (error) {
      const isBadRange = EngineError.isInstance(error) && error.code === 'hub/bad-range' && offset > 0
      if (!isBadRange) throw error
      await this.#restart('changed')
      return false
    }
    try {
      return (await this.#accept(answer, offset)) && (await this.#append(answer))
    } finally {
      await answer.cancel()
    }
  }

  /** Checks what is about to come. @returns False when it has to be asked for again, from the beginning. */
  async #accept({ response, contentTag }: HttpAnswer, offset: number): Promise<boolean> {
    const { headers, status } = response
    const { name, address, byteLength } = this.#file
    if (isWebPage(headers)) throw htmlInstead(name, address)
    const isPartial = status === 206
    const range = headers.get('content-range')
    const { journal, ports } = this.#context
    const announced = isPartial ? totalOf(range) : lengthOf(headers, ports.hidesHeaders)
    const known = journal.entry(name)
    if (offset > 0) {
      const isOther = known?.etag !== undefined && contentTag !== undefined && known.etag !== contentTag
      if (isOther) {
        await this.#restart('changed')
        return false
      }
      const isHidden = ports.hidesHeaders === true && range === null
      const begins = isHidden ? offset : Number(/^bytes (\d+)-/.exec(range ?? '')?.[1])
      if (!isPartial) await this.#restart('ranges-ignored')
      else if (begins !== offset || headers.get('content-encoding') !== null) {
        await this.#restart('ranges-ignored')
        return false
      }
    }
    if (byteLength !== undefined && announced !== undefined && announced !== byteLength) {
      throw new EngineError('hub/changed', {
        message: `${name}: expected ${byteLength} bytes, the server now has ${announced}.`,
        hint: 'The file was changed while it was fetched; pull again.',
      })
    }
    if (this.#part.byteLength === 0) {
      const hash = plannedHash(this.#file)
      await journal.set(name, {
        ...(hash !== undefined && { hash }),
        ...(contentTag !== undefined && { etag: contentTag }),
      })
    }
    return true
  }

  async #append(answer: HttpAnswer): Promise<boolean> {
    const { name, address, byteLength } = this.#file
    const { onEvent, signal } = this.#context
    for await (const chunk of answer.readChunks()) {
      throwIfAborted(signal)
      const offset = this.#part.byteLength
      if (offset === 0 && detectContentKind(chunk) === 'html') throw htmlInstead(name, address)
      if (byteLength !== undefined && offset + chunk.byteLength > byteLength) {
        await this.#empty()
        throw new EngineError('hub/changed', {
          message: `${name}: expected ${byteLength} bytes, the server sends more.`,
          hint: 'The file was changed while it was fetched; pull again.',
        })
      }
      await this.#part.write(chunk, offset)
      this.#hash.update(chunk)
      onEvent({ type: 'bytes-received', file: name, receivedBytes: this.#part.byteLength })
    }
    throwIfAborted(signal)
    if (byteLength === undefined || this.#isComplete()) return true
    throw new TransientFailure(
      new EngineError('hub/cut', {
        message: `${name}: the connection ended after ${this.#part.byteLength} of ${byteLength} bytes.`,
        hint: 'Run the same command again; it goes on where it stopped.',
      }),
    )
  }

  /** Throws away what is there, to begin anew. */
  async #restart(reason: RestartReason): Promise<void> {
    const { name } = this.#file
    await this.#empty()
    this.#context.onEvent({ type: 'file-restarted', file: name, reason })
    this.#restarts++
    if (this.#restarts <= MAX_RESTARTS) return
    throw new EngineError('hub/unstable', {
      message: `${name}: begun anew ${MAX_RESTARTS} times; the server gives other content every time.`,
      hint: 'Try again later, or use another endpoint (HF_ENDPOINT).',
    })
  }

  async #empty(): Promise<void> {
    await this.#part.truncate(0)
    await this.#context.journal.delete(this.#file.name)
    this.#hash = new ContentHash(this.#context.ports, this.#file)
    this.#isPieced = false
  }
}
