/** What is known of a download between runs: a JSON file beside its parts. Sizes are those of the parts themselves. */
import type { DraftStorage } from './storage.ts'

const VERSION = 1

export interface JournalEntry {
  /** Hash that the listing gave, either kind; tells whether a part is of the content that is wanted now. */
  readonly hash?: string
  /** What the server called the content when the first byte came. */
  readonly etag?: string
  /** Set when the file is whole, verified and on the disk. */
  readonly sha256?: string
}

export class Journal {
  readonly #draft: DraftStorage
  readonly #id: string
  readonly #entries: Map<string, JournalEntry>
  #writing: Promise<void> = Promise.resolve()

  private constructor(draft: DraftStorage, id: string, entries: Map<string, JournalEntry>) {
    this.#draft = draft
    this.#id = id
    this.#entries = entries
  }

  /** A journal that cannot be read counts as none: its parts are fetched anew. */
  static async load(draft: DraftStorage, id: string): Promise<Journal> {
    return new Journal(draft, id, parseJournal(await draft.readJournal()))
  }

  entry(name: string): JournalEntry | undefined {
    return this.#entries.get(name)
  }

  /** Several files are fetched at once; their entries are written one after the other. */
  set(name: string, entry: JournalEntry): Promise<void> {
    this.#entries.set(name, entry)
    return this.#write()
  }

  delete(name: string): Promise<void> {
    this.#entries.delete(name)
    return this.#write()
  }

  #write(): Promise<void> {
    const text = JSON.stringify({ version: VERSION, id: this.#id, files: Object.fromEntries(this.#entries) })
    const writing = this.#writing.then(() => this.#draft.writeJournal(`${text}\n`))
    // One that fails is reported to whoever asked for it, not to those who come later.
    this.#writing = writing.catch(() => {})
    return writing
  }
}

function parseJournal(text: string | undefined): Map<string, JournalEntry> {
  const entries = new Map<string, JournalEntry>()
  try {
    const { version, files } = JSON.parse(text ?? '{}') as {
      version?: unknown
      files?: Record<string, unknown>
    }
    if (version !== VERSION) return entries
    for (const [name, value] of Object.entries(files ?? {})) {
      const { hash, etag, sha256 } = (value ?? {}) as Record<keyof JournalEntry, unknown>
      entries.set(name, {
        ...(typeof hash === 'string' && { hash }),
        ...(typeof etag === 'string' && { etag }),
        ...(typeof sha256 === 'string' && { sha256 }),
      })
    }
  } catch {
    entries.clear()
  }
  return entries
}

/** The id in a journal, for lists of unfinished downloads. */
export function parseJournalId(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { id?: unknown }
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
