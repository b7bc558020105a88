/** The command that looks into models, and its options. What it does is loaded when it runs. */
import type { Command } from 'commander'
import { addTerminalOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import type { InspectCommandOptions } from './inspect.ts'
import { someText, wholeNumber } from './option-values.ts'
import type { Guard } from './program.ts'

const NOTES = `
A model is a folder, a .gguf or .safetensors file, a pulled model, or an id of the
hub (owner/name) or address, of which only headers and some weights are read.
Exits with 1 when an error is found. docs/inspect.md lists all findings.`

export function addInspectCommand(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('inspect')
      .argument('<model>', 'folder, file, owner/name or address; "tiny" is the bundled one', someText)
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .option('--context <tokens>', 'length to state the memory for (default: at most 8192)', wholeNumber(1))
      .option('--deep', 'read every byte of large models too')
      .option('--no-weights', 'read headers and small files only')
      .option('--json', 'print one JSON object'),
  )
    .description('say what a model is by its contents, and what is wrong with it')
    .addHelpText('after', NOTES)
    .action((model: string, options: InspectCommandOptions) =>
      guard(options, async () => (await import('./inspect.ts')).runInspect(model, options, context)),
    )
}
