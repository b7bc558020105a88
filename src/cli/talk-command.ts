/** The command `talk` and its options. */
import type { Command } from 'commander'
import { addTerminalOptions, precisionOption, threadsOption } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { someText, wholeNumber } from './option-values.ts'
import type { Guard } from './program.ts'
import { pace } from './say-command.ts'
import type { TalkOptions } from './talk.ts'

export function addTalkCommand(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('talk')
      .argument('[pictures...]', 'go with the first question')
      .option('--camera-folder <folder>', 'each question looks at the newest picture in it', someText)
      .option(
        '-m, --model <model>',
        'folder, .gguf file or pulled model (default: tiny, the bundled one)',
        someText,
      )
      .option('--mmproj <file>', 'projector of a .gguf model (default: found beside it)', someText)
      .addOption(precisionOption('auto: q8 for safetensors, .gguf files as they are'))
      .addOption(threadsOption())
      .option('--recognizer <model>', 'what hears (default: a Whisper model that was pulled)', someText)
      .option('--voice <voice>', "name of a system voice, or a voice model's folder or .onnx file", someText)
      .option('--rate <number>', 'pace of the voice; 1 is its own', pace)
      .option('--mute', 'print answers sentence by sentence instead of saying them; for screen readers')
      .option('-l, --language <tag>', 'auto, en, zh, zh-Hans, zh-Hant, …', someText, 'auto')
      .option(
        '--input <file>',
        'a recording instead of the microphone; - reads WAV or samples of 16 kHz',
        someText,
      )
      .option('--device <name>', 'microphone, as the system calls it', someText)
      .option('--hands-free', 'listen without a key; the default where there is no terminal')
      .option('--interrupt', 'hands-free, and who speaks interrupts the answer; for headphones')
      .option('--system <text>', 'system prompt')
      .option(
        '-n, --max-tokens <count>',
        "most tokens of an answer (default: the model's, else 512)",
        wholeNumber(1),
      )
      .option('--json', 'print one JSON object an event'),
  )
    .description('ask aloud and hear the answer')
    .action((pictures: string[], options: TalkOptions) =>
      guard(options, async () => (await import('./talk.ts')).runTalk(pictures, options, context)),
    )
}
