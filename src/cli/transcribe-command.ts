/** The command `transcribe` and its options. */
import { type Command, Option } from 'commander'
import { addTerminalOptions, precisionOption, threadsOption } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { someText, wholeNumber } from './option-values.ts'
import type { Guard } from './program.ts'
import type { TranscribeCommandOptions } from './transcribe.ts'

export function addTranscribeCommand(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('transcribe')
      .argument('<audio>', 'sound file; - reads WAV or raw samples from standard input')
      .option('-l, --language <tag>', 'auto, en, zh, zh-Hans, zh-Hant, …', someText, 'auto')
      .option('--timestamps', 'segments with their times')
      .addOption(
        new Option('--subtitles <format>', 'print subtitles instead of text').choices(['srt', 'vtt']),
      )
      .option('--context <text>', 'earlier text, or names and terms that may come up', someText)
      .option(
        '-m, --model <model>',
        'folder, ggml-*.bin, .gguf file or pulled model (default: a Whisper model that was pulled)',
        someText,
      )
      .addOption(precisionOption('auto: q8, save for files that are quantised already'))
      .addOption(threadsOption())
      .addOption(
        new Option('--encoding <name>', 'of raw samples on standard input')
          .choices(['s16le', 's24le', 's32le', 'f32le', 'u8'])
          .default('s16le'),
      )
      .option('--rate <count>', 'raw samples a second', wholeNumber(8000, 192_000), 16_000)
      .option('--channels <count>', 'channels of raw samples', wholeNumber(1, 32), 1)
      .option('--json', 'print one JSON object'),
  )
    .description('write down what is said')
    .action((audio: string, options: TranscribeCommandOptions) =>
      guard(options, async () => (await import('./transcribe.ts')).runTranscribe(audio, options, context)),
    )
}
