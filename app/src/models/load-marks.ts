/**
 * Remembers which model is being loaded. Phones end a page that takes too much memory without a word and load it anew;
 * what is remembered then says that loading it again would end the same way.
 */

export interface LoadMarks {
  /** The model whose loading was never heard of again. */
  readonly unfinished: string | undefined
  begin(name: string): void
  /** Of this model, unless another has begun meanwhile. Default: of whichever. */
  end(name?: string): void
}

const KEY = 'onsight.loading'

/** @param open May throw, as `localStorage` does where a person forbids it. */
export function createLoadMarks(open: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): LoadMarks {
  const attempt = <Value>(work: () => Value): Value | undefined => {
    // Private modes may refuse; then nothing is remembered.
    try {
      return work()
    } catch {
      return undefined
    }
  }
  return {
    get unfinished() {
      return attempt(() => open().getItem(KEY)) ?? undefined
    },
    begin: (name) => attempt(() => open().setItem(KEY, name)),
    end: (name) =>
      attempt(() => {
        const storage = open()
        if (name === undefined || storage.getItem(KEY) === name) storage.removeItem(KEY)
      }),
  }
}
