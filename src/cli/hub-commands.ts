/** The commands of the model store and their options. What they do is loaded when they run. */
import type { Command } from 'commander'
import { CATALOGUE } from '../hub/catalogue.ts'
import { addTerminalOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import type { ListOptions } from './list.ts'
import { collectTexts, someText } from './option-values.ts'
import type { Guard } from './program.ts'
import type { PullCommandOptions } from './pull.ts'
import { formatBytes } from './quantities.ts'
import type { RemoveOptions } from './rm.ts'
import type { VerifyCommandOptions } from './verify.ts'

const REFERENCES = `
A model is named by its place in the catalogue, by its id on the hub (owner/name,
owner/name@revision, owner/name/file.gguf), or by the address of a .gguf or
.safetensors file.`

export function addHubCommands(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('pull')
      .argument('<model>', 'name, owner/name or address', someText)
      .option('--revision <name>', 'branch, tag or commit (default: main)', someText)
      .option('--file <name>', 'weights: a file or a type such as Q8_0; may be given twice', collectTexts)
      .option('--json', 'print one JSON object'),
  )
    .description('fetch a model and keep it; goes on where it stopped')
    .addHelpText('after', `${REFERENCES}\n\nCatalogue:\n${describeCatalogue()}`)
    .action((model: string, options: PullCommandOptions) =>
      guard(options, async () => (await import('./pull.ts')).runPull(model, options, context)),
    )

  addTerminalOptions(
    program
      .command('list')
      .option('-a, --all', 'also models that other programs hold')
      .option('--json', 'print one JSON object'),
  )
    .description('show the models that are stored')
    .action((options: ListOptions) =>
      guard(options, async () => (await import('./list.ts')).runList(options, context)),
    )

  addTerminalOptions(
    program
      .command('verify')
      .argument('[models...]', 'as for pull (default: all that are stored)')
      .option('--json', 'print one JSON object'),
  )
    .description('read stored models again and compare them with what was pulled')
    .action((models: string[], options: VerifyCommandOptions) =>
      guard(options, async () => (await import('./verify.ts')).runVerify(models, options, context)),
    )

  addTerminalOptions(
    program
      .command('rm')
      .argument('<models...>', 'as for pull; without @revision all revisions')
      .option('--json', 'print one JSON object'),
  )
    .description('delete stored models and unfinished downloads')
    .action((models: string[], options: RemoveOptions) =>
      guard(options, async () => (await import('./rm.ts')).runRemove(models, options, context)),
    )
}

function describeCatalogue(): string {
  const width = Math.max(...CATALOGUE.map(({ name }) => name.length))
  return CATALOGUE.map(({ name, description, approximateBytes, licence }) => {
    const size = approximateBytes === undefined ? '' : `, about ${formatBytes(approximateBytes)}`
    return `  ${name.padEnd(width)}  ${description}${size}; ${licence}`
  }).join('\n')
}
