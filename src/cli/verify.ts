/** `onsight verify`: reads stored models again. */
import type { VerifyReport } from '../hub/verify.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { hubMessagesFor } from './hub-messages.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export interface VerifyCommandOptions extends TerminalOptions {
  readonly json?: boolean
}

/** @returns `EXIT.model` when one of the models is damaged. */
export async function runVerify(
  references: readonly string[],
  { json, ...options }: VerifyCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = hubMessagesFor(context.env)
  const { openModelHub } = await import('../entry/hub.node.ts')
  const hub = await openModelHub({ env: context.env })
  const request = {
    signal: context.interrupts.signal,
    onProgress: ({ id, readBytes, totalBytes }: { id: string; readBytes: number; totalBytes: number }) =>
      terminal.progress.show(`${messages.checking} ${id}`, readBytes, totalBytes),
  }
  const reports: VerifyReport[] = []
  const report = (found: VerifyReport): void => {
    reports.push(found)
    terminal.progress.clear()
    if (json) return
    const state = found.isIntact ? messages.intact : messages.damaged
    const faults = found.files.filter(({ state }) => state !== 'intact')
    const lines = [
      `${found.id}@${found.revision.slice(0, 12)}  ${state}`,
      ...faults.map(({ name, state, detail }) => `  ${name}: ${state}, ${detail}`),
    ]
    terminal.answer(`${lines.join('\n')}\n`)
    if (!found.isIntact) terminal.note(messages.repair(found.id))
  }
  if (references.length === 0) {
    const models = await hub.list()
    if (models.length === 0) terminal.note(messages.nothingStored)
    for (const model of models) report(await hub.verifyStored(model, request))
  }
  for (const reference of references) report(await hub.verify(reference, request))
  const isIntact = reports.every((found) => found.isIntact)
  if (json) terminal.json({ isIntact, models: reports })
  return isIntact ? EXIT.done : EXIT.model
}
