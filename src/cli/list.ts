/** `onsight list`: what is stored, and with --all what other programs hold. */
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { hubMessagesFor } from './hub-messages.ts'
import { formatBytes } from './quantities.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export interface ListOptions extends TerminalOptions {
  readonly all?: boolean
  readonly json?: boolean
}

/** Enough to tell commits apart, and to name one. */
const SHOWN_COMMIT_LENGTH = 12

export async function runList(
  { all, json, ...options }: ListOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = hubMessagesFor(context.env)
  const { openModelHub, listOtherModels } = await import('../entry/hub.node.ts')
  const hub = await openModelHub({ env: context.env })
  const [models, unfinished] = await Promise.all([hub.list(), hub.listUnfinished()])
  const others = all ? await listOtherModels(context.env) : undefined
  if (json) {
    terminal.json({ models, unfinished, ...(others && { others }) })
    return EXIT.done
  }
  const rows = [
    ...models.map(({ id, revision, byteLength, licence, variant }) => [
      `${id}@${revision.slice(0, SHOWN_COMMIT_LENGTH)}`,
      formatBytes(byteLength),
      licence ?? '',
      variant,
    ]),
    ...unfinished.map(({ id, byteLength }) => [id, formatBytes(byteLength), messages.unfinished, '']),
    ...(others ?? []).map(({ name, byteLength, program, path, projector }) => [
      name,
      formatBytes(byteLength),
      program,
      projector === undefined ? path : `${path} --mmproj ${projector}`,
    ]),
  ]
  if (rows.length === 0) terminal.note(messages.nothingStored)
  else terminal.answer(`${alignColumns(rows).join('\n')}\n`)
  return EXIT.done
}

/** Sizes at the right, everything else at the left. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((text, column) => {
        const width = widths[column] ?? 0
        return column === 1 ? text.padStart(width) : text.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}
