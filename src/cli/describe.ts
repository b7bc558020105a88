/** `onsight describe`: pictures, a question, one answer. */
import {
  type AnswerOptions,
  chatOptionsOf,
  generationOptionsOf,
  hasIdleSampling,
  loadOptionsOf,
} from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { findPictures } from './pictures.ts'
import { loadSchema } from './schema-file.ts'
import { Terminal } from './terminal.ts'
import { runTurn } from './turn.ts'
import { withModel } from './with-model.ts'

export async function runDescribe(
  pictureNames: readonly string[],
  options: AnswerOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const images = await findPictures(pictureNames, context.stdin)
  const form = await loadSchema(options.schema)
  return withModel(context, terminal, { model: options.model, ...loadOptionsOf(options) }, async (model) => {
    if (hasIdleSampling(options, model.defaults)) terminal.note(terminal.messages.samplingIsOff)
    const chat = model.chat(chatOptionsOf(options))
    const text = options.ask ?? terminal.messages.defaultQuestion
    const generation = { ...generationOptionsOf(options), ...form, signal: context.interrupts.signal }
    await runTurn(chat.send({ text, images }, generation), {
      terminal,
      isJson: options.json ?? false,
      loadMs: model.info.loadMs,
      pictureNames,
    })
    return context.interrupts.exitCode ?? EXIT.done
  })
}
