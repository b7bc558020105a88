/** The command `serve` and its options. */
import { type Command, InvalidArgumentError } from 'commander'
import {
  addTerminalOptions,
  imageTokensOption,
  kvOption,
  memoryLimitOption,
  precisionOption,
  threadsOption,
} from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { collectTexts, numberThat, someText, wholeNumber } from './option-values.ts'
import type { Guard } from './program.ts'
import type { ServeOptions } from './serve.ts'

export function addServeCommand(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('serve')
      .option(
        '-m, --model <model>',
        'folder, .gguf file or pulled model (default: tiny, the bundled one)',
        someText,
      )
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .option('--name <name>', "what clients call the model (default: its file's or folder's)", someText)
      .addOption(precisionOption('auto: q8 for safetensors, .gguf files as they are'))
      .addOption(kvOption())
      .addOption(imageTokensOption())
      .addOption(memoryLimitOption())
      .addOption(threadsOption())
      .option('--recognizer <model>', 'what hears, for /v1/audio/transcriptions (default: nothing)', someText)
      .option(
        '--voice <voice>',
        "what speaks, for /v1/audio/speech: a system voice's name, or a voice model (default: nothing)",
        someText,
      )
      .option('--port <number>', '0 takes a free one', wholeNumber(0, 65535), 8321)
      .option('--host <address>', 'others than the loopback need a key', someText, '127.0.0.1')
      .option('--api-key <key>', 'clients must send it (default: ONSIGHT_API_KEY, else none)', someText)
      .option('--cors <origin>', 'web pages that may ask; may be given several times', collectOrigins)
      .option('--queue <count>', 'requests that may wait', wholeNumber(0), 32)
      .option('--keep <count>', 'conversations kept for a next question', wholeNumber(0), 4)
      .option(
        '--max-body <MB>',
        'largest request',
        numberThat('above 0', (value) => value > 0),
        25,
      )
      .option('--timeout <seconds>', 'longest time for a request, waiting included', wholeNumber(1), 600)
      .option('--allow-remote-images', 'fetch pictures that requests name by address')
      .option('--json', 'print one JSON object a line: the address, then requests'),
  )
    .description('answer other programs: an OpenAI-compatible API on this machine')
    .action((options: ServeOptions) =>
      guard(options, async () => (await import('./serve.ts')).runServe(options, context)),
    )
}

function collectOrigins(text: string, before: readonly string[] | undefined): readonly string[] {
  if (!URL.canParse(text) || new URL(text).origin !== text) {
    throw new InvalidArgumentError('Expected an origin such as https://app.example, with nothing after it.')
  }
  return collectTexts(text, before)
}
