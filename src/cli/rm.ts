/** `onsight rm`: deletes stored models and unfinished downloads. */
import type { RemovedModel } from '../hub/model-store.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { hubMessagesFor } from './hub-messages.ts'
import { formatBytes } from './quantities.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export interface RemoveOptions extends TerminalOptions {
  readonly json?: boolean
}

export async function runRemove(
  references: readonly string[],
  { json, ...options }: RemoveOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = hubMessagesFor(context.env)
  const { openModelHub } = await import('../entry/hub.node.ts')
  const hub = await openModelHub({ env: context.env })
  const removed: RemovedModel[] = []
  for (const reference of references) {
    for (const model of await hub.remove(reference)) {
      removed.push(model)
      const { id, revision, freedBytes } = model
      const name =
        revision === undefined ? `${id} (${messages.unfinished})` : `${id}@${revision.slice(0, 12)}`
      if (!json) terminal.answer(`${messages.removed(name, formatBytes(freedBytes))}\n`)
    }
  }
  if (json) terminal.json({ removed })
  return EXIT.done
}
