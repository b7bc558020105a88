/** Inspection in Node: local files, pulled models, and models of the hub where they lie. */
import { type Inspection, type InspectOptions, inspectModelOn } from '../inspect/inspect-model.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import { createFileHost } from './file-host.node.ts'

export interface InspectModelOptions extends InspectOptions {
  /** Instead of the process's environment: `ONSIGHT_HOME`, `HF_ENDPOINT`, `HF_TOKEN`. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Says what a model is by its contents and what is wrong with it. A reference is a folder, a `.gguf` or `.safetensors`
 * file, a pulled model, or an id of the hub or an address, of which only what is needed is read, in ranges.
 *
 * @example
 * const { ok, findings } = await inspectModel('./SomeVLM-500M')
 * for (const { code, message } of findings) console.log(code, message)
 *
 * @throws EngineError only when there is nothing to read: `file/model-not-found`, `hub/…`, errors of the disk.
 */
export async function inspectModel(
  reference: string,
  { env, ...options }: InspectModelOptions = {},
): Promise<Inspection> {
  const host = createFileHost()
  let isRemote = false
  const withRemote: FileHost = {
    ...host,
    locateModel: async (name) => {
      try {
        return await host.locateModel(name)
      } catch (error) {
        if (!EngineError.isInstance(error) || error.code !== 'file/model-not-found') throw error
        const { openModelHub } = await import('./hub.node.ts')
        const hub = await openModelHub(env === undefined ? {} : { env })
        const signal = options.signal
        const located = await hub.locateRemote(name, { signal })
        if (located === undefined) throw error
        isRemote = true
        return located
      }
    },
  }
  // Located first, for how much is read depends on where it lies.
  const located = await withRemote.locateModel(reference)
  const once: FileHost = {
    ...withRemote,
    locateModel: (name) => (name === reference ? Promise.resolve(located) : withRemote.locateModel(name)),
  }
  return inspectModelOn(once, reference, { sparing: isRemote, ...options })
}
