/** The commands that convert and evaluate models, and their options. What they do is loaded when they run. */
import type { Command } from 'commander'
import { addTerminalOptions, threadsOption } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import type { ConvertCommandOptions } from './convert.ts'
import type { EvalCommandOptions } from './eval.ts'
import { numberThat, someText, wholeNumber, wholeNumbers } from './option-values.ts'
import type { Guard } from './program.ts'

const RECIPES = `
Recipes: f16, q8, q4, mixed (4 bits for the decoder's layers, 8 for the rest),
small (4 bits for vision too; wants --calibrate), or a JSON file;
docs/quantisation.md describes them and what they lose.`

export function addConvertCommands(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('convert')
      .argument('<model>', 'folder or .gguf file; "tiny" is the bundled one', someText)
      .argument('<out>', '.gguf file to write; the projector goes to mmproj-<out> beside it', someText)
      .option('--recipe <name>', 'f16, q8, q4, mixed, small or a .json file', someText, 'mixed')
      .option('--calibrate <folder>', 'pictures and questions to run the model on', someText)
      .option(
        '--target-loss <nats>',
        'six bits for sensitive matrices until the mean KL divergence on the calibration folder is at most this',
        numberThat('above 0', (value) => value > 0),
      )
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .option('--force', 'replace files that exist')
      .addOption(threadsOption())
      .option('--json', 'print one JSON object'),
  )
    .description('write a model as GGUF, quantised by a recipe; for Onsight and llama.cpp')
    .addHelpText('after', RECIPES)
    .action((source: string, target: string, options: ConvertCommandOptions) =>
      guard(options, async () => (await import('./convert.ts')).runConvert(source, target, options, context)),
    )

  addTerminalOptions(
    program
      .command('eval')
      .argument('<model>', 'folder or .gguf file; "tiny" is the bundled one', someText)
      .option(
        '--set <file>',
        '.jsonl file of pictures, questions and answers (default: the bundled set)',
        someText,
      )
      .option(
        '--recipes <names>',
        'recipes or converted .gguf files, separated by commas',
        someText,
        'f16,q8,q4,mixed',
      )
      .option('--calibrate <folder>', 'pictures and questions for recipes that search', someText)
      .option('--resume <file>', 'keep results here and go on where they end', someText)
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .option('-n, --max-tokens <count>', 'longest answer (default: 128)', wholeNumber(1))
      .option(
        '--image-tokens <counts>',
        'ask again with pictures of at most so many tokens; several separated by commas',
        wholeNumbers(1),
      )
      .addOption(threadsOption())
      .option('--json', 'print one JSON object'),
  )
    .description('measure what recipes lose on a set of pictures, questions and answers')
    .addHelpText('after', RECIPES)
    .action((model: string, options: EvalCommandOptions) =>
      guard(options, async () => (await import('./eval.ts')).runEvalCommand(model, options, context)),
    )
}
