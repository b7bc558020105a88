/** `onsight demo`: the bundled picture through the bundled model, and how to go on. */
import { dirname, join } from 'node:path'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { runTurn } from './turn.ts'
import { withModel } from './with-model.ts'

/** Beside the folder of the bundled model. */
const PICTURE = 'demo.png'

export async function runDemo(options: TerminalOptions, context: CommandContext): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const { messages } = terminal
  const { bundledModelPath } = await context.loadEngine()
  const picture = join(dirname(bundledModelPath()), PICTURE)
  return withModel(context, terminal, {}, async (model) => {
    terminal.note(`${messages.demoPicture}: ${picture}`)
    terminal.note(`${messages.demoQuestion}: ${messages.defaultQuestion}`)
    const question = { text: messages.defaultQuestion, images: [picture] }
    await runTurn(model.chat().send(question, { signal: context.interrupts.signal }), {
      terminal,
      isJson: false,
      loadMs: model.info.loadMs,
      pictureNames: [PICTURE],
    })
    if (context.interrupts.exitCode !== undefined) return context.interrupts.exitCode
    const commands = [
      ['npx onsight describe PICTURE --ask "…"', messages.demoAsk],
      ['npx onsight chat PICTURE', messages.demoChat],
      ['npx onsight describe PICTURE --model FOLDER', messages.demoModel],
    ] as const
    const width = Math.max(...commands.map(([command]) => command.length))
    terminal.report([
      messages.demoNext,
      ...commands.map(([command, use]) => `  ${command.padEnd(width)}  ${use}`),
    ])
    return EXIT.done
  })
}
