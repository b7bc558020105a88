/** The command `say` and its options. */
import type { Command } from 'commander'
import { addTerminalOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { numberThat, someText } from './option-values.ts'
import type { Guard } from './program.ts'
import type { SayCommandOptions } from './say.ts'

export const pace = numberThat('from 0.5 to 3', (value) => value >= 0.5 && value <= 3)
const pitch = numberThat('from 0.5 to 2', (value) => value >= 0.5 && value <= 2)

export function addSayCommand(program: Command, context: CommandContext, guard: Guard): void {
  addTerminalOptions(
    program
      .command('say')
      .argument('[text]', 'what to say; left out or -, standard input as it comes')
      .option(
        '-v, --voice <voice>',
        "name of a system voice, or a voice model's folder or .onnx file",
        someText,
      )
      .option(
        '-o, --out <file>',
        'write a WAV file instead of playing; - writes to standard output',
        someText,
      )
      .option('-l, --language <tag>', 'en, zh, … (default: told by the text)', someText)
      .option('--rate <number>', 'pace; 1 is the voice’s own', pace)
      .option('--pitch <number>', 'pitch; 1 is the voice’s own', pitch)
      .option('--list-voices', "print the system's voices"),
  )
    .description('say text aloud: Markdown, code and emoji are not read')
    .addHelpText('after', '\nAn answer can be said as it comes: onsight describe photo.jpg | onsight say')
    .action((text: string | undefined, options: SayCommandOptions) =>
      guard(options, async () => (await import('./say.ts')).runSay(text, options, context)),
    )
}
