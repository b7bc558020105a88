/** A recogniser or a voice that is loaded when it is first wanted, and again when another is chosen or the worker was lost. */

interface Disposable {
  dispose(): Promise<void>
}

export interface SpeechSlotPorts<Loaded extends Disposable> {
  /** Name of the stored model; undefined: none is chosen. */
  chosen(): string | undefined
  /** Rejects when it is not there or damaged. */
  load(name: string): Promise<Loaded>
  /** What could not be loaded, and why. */
  onFailed(name: string, error: unknown): void
}

export interface SpeechSlot<Loaded extends Disposable> {
  /** Undefined when none is chosen, or it could not be loaded: speech then goes on without. */
  get(): Promise<Loaded | undefined>
  /** What was loaded is gone with its worker. */
  forget(): void
}

export function createSpeechSlot<Loaded extends Disposable>({
  chosen,
  load,
  onFailed,
}: SpeechSlotPorts<Loaded>): SpeechSlot<Loaded> {
  let held: { readonly name: string; readonly loading: Promise<Loaded | undefined> } | undefined
  return {
    async get() {
      const name = chosen()
      if (held?.name !== name) {
        const before = held
        held = undefined
        if (name !== undefined) {
          const loading: Promise<Loaded | undefined> = Promise.resolve(before?.loading)
            .then((old) => old?.dispose())
            .then(() => load(name))
            .catch((error: unknown) => {
              // The next one who wants it tries again.
              if (held?.loading === loading) held = undefined
              onFailed(name, error)
              return undefined
            })
          held = { name, loading }
        } else await (await before?.loading)?.dispose()
      }
      return held?.loading
    },
    forget() {
      held = undefined
    },
  }
}
