/** Commands and their options. What a command does is loaded when it runs, so that help is instant. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import {
  type AnswerOptions,
  addAnswerOptions,
  addTerminalOptions,
  detailOption,
  kvOption,
  memoryLimitOption,
  precisionOption,
  threadsOption,
} from './answer-options.ts'
import type { BenchOptions } from './bench.ts'
import type { CommandContext } from './context.ts'
import { addConvertCommands } from './convert-commands.ts'
import { EXIT, EXIT_CODES_HELP, type ExitCode } from './exit-codes.ts'
import { addHubCommands } from './hub-commands.ts'
import { addInspectCommand } from './inspect-command.ts'
import { someText, wholeNumber } from './option-values.ts'
import { addRouteOptions, type RouteFlags } from './routes.ts'
import { addSayCommand } from './say-command.ts'
import { addServeCommand } from './serve-command.ts'
import { addTalkCommand } from './talk-command.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import type { TraceOptions } from './trace.ts'
import { addTranscribeCommand } from './transcribe-command.ts'
import { failureOf } from './with-model.ts'

const DESCRIPTION = 'Vision-language models that see, read and talk on your own device.'
const EXAMPLES = `
Examples:
  onsight demo
  onsight pull smolvlm-500m
  onsight describe photo.jpg --model smolvlm-500m
  onsight describe photo.jpg --ask "What does the sign say?"
  onsight chat photo.jpg

onsight COMMAND --help lists the options of a command.`

/** @returns What to exit with. Nothing is thrown for wrong usage or failing commands; both are printed. */
export async function runCli(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done
  const program = createProgram(context, async (options, run) => {
    try {
      exitCode = await run()
    } catch (error) {
      exitCode = failureOf(context, new Terminal(context, options), error)
    }
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  return exitCode
}

export type Guard = (options: TerminalOptions, run: () => Promise<ExitCode>) => Promise<void>

function createProgram(context: CommandContext, guard: Guard): Command {
  const program = new Command('onsight')
  configureOutput(program, context)
  program
    .description(DESCRIPTION)
    .version(readVersion(), '-V, --version')
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES_HELP)

  addRouteOptions(
    addAnswerOptions(program.command('describe').argument('<pictures...>', 'files; - reads standard input')),
  )
    .description('answer one question about pictures')
    .action((pictures: string[], options: AnswerOptions & RouteFlags) =>
      guard(options, async () => (await import('./describe.ts')).runDescribe(pictures, options, context)),
    )

  addAnswerOptions(program.command('chat').argument('[pictures...]', 'go with the first message'))
    .option('--save <file>', 'keep the conversation in this file, written after each answer', someText)
    .option('--resume <file>', 'go on with a conversation that was saved', someText)
    .description('have a conversation; a line of standard input is a turn when it is no terminal')
    .addHelpText(
      'after',
      '\nIn a chat: /image PATH adds a picture to the next message, /again answers the last message anew,\n/edit TEXT asks something else in its place, /exit ends.',
    )
    .action((pictures: string[], options: AnswerOptions) =>
      guard(options, async () => (await import('./chat.ts')).runChat(pictures, options, context)),
    )

  addTerminalOptions(
    program
      .command('trace')
      .argument('<model>', 'folder or .gguf file; "tiny" is the bundled one')
      .requiredOption('-o, --out <file>', 'safetensors file to write', someText)
      .option('-i, --image <file>', 'picture; - reads standard input', someText)
      .option('-a, --ask <text>', 'question that goes through the chat template', someText)
      .option('--prompt <text>', 'raw prompt instead; <image> stands for the picture', someText)
      .option('--greedy <count>', 'greedy tokens to add', wholeNumber(0), 64)
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .addOption(precisionOption('how weights are kept').default('f32'))
      .addOption(kvOption())
      .addOption(detailOption('how closely to look at the picture').default('high'))
      .addOption(threadsOption()),
  )
    .description('write every stage of one run, to compare with Transformers layer by layer')
    .action((model: string, options: TraceOptions) =>
      guard(options, async () => (await import('./trace.ts')).runTrace(model, options, context)),
    )

  addTerminalOptions(
    program
      .command('bench')
      .argument('[model]', 'folder or .gguf file; "tiny" is the bundled one')
      .option(
        '--shape <name>',
        'random weights of smolvlm-256m, smolvlm-500m or smolvlm-2.2b instead',
        someText,
      )
      .addOption(precisionOption('auto: q8 for safetensors, .gguf files as they are'))
      .addOption(kvOption())
      .addOption(threadsOption())
      .addOption(memoryLimitOption())
      .option('--repeat <count>', 'runs of each measurement', wholeNumber(1), 3)
      .option('--compare <file>', 'show ratios to an earlier report, written with --json', someText)
      .option('--json', 'print one JSON object'),
  )
    .description('measure speed and memory on this machine')
    .action((model: string | undefined, options: BenchOptions) =>
      guard(options, async () => (await import('./bench.ts')).runBench(model, options, context)),
    )

  addTranscribeCommand(program, context, guard)
  addSayCommand(program, context, guard)
  addTalkCommand(program, context, guard)
  addHubCommands(program, context, guard)
  addServeCommand(program, context, guard)
  addConvertCommands(program, context, guard)
  addInspectCommand(program, context, guard)

  addTerminalOptions(program.command('demo'))
    .description('describe a bundled picture and say how to go on')
    .action((options: TerminalOptions) =>
      guard(options, async () => (await import('./demo.ts')).runDemo(options, context)),
    )
  return program
}

/** Subcommands inherit these settings, so this comes before they are made. */
function configureOutput(program: Command, context: CommandContext): void {
  const { stdout, stderr } = context
  program.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => stdout.columns ?? 80,
    getErrHelpWidth: () => stderr.columns ?? 80,
    // "error: unknown option '--modle'\n(Did you mean --model?)"
    outputError: (text) => {
      const [message = '', suggestion] = text.trim().split('\n')
      new Terminal(context).complain(
        message.replace(/^error: /, ''),
        suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'onsight --help lists commands and options.',
      )
    },
  })
}

/** package.json lies two folders up, from src/cli as from dist/cli. */
function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
