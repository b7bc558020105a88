/** `onsight describe`: pictures, a question, one answer. */
import type { AnsweringModel } from '../assistant/answering-model.ts'
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
import { openRoute, type RouteFlags } from './routes.ts'
import { loadSchema } from './schema-file.ts'
import { Terminal } from './terminal.ts'
import { runTurn } from './turn.ts'
import { withModel } from './with-model.ts'

export async function runDescribe(
  pictureNames: readonly string[],
  options: AnswerOptions & RouteFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const images = await findPictures(pictureNames, context.stdin)
  const form = await loadSchema(options.schema)
  const { route = 'local' } = options
  const answer = async (model: Pick<AnsweringModel, 'chat'>, loadMs: number): Promise<ExitCode> => {
    const chat = model.chat(chatOptionsOf(options))
    const text = options.ask ?? terminal.messages.defaultQuestion
    const generation = { ...generationOptionsOf(options), ...form, signal: context.interrupts.signal }
    const isJson = options.json ?? false
    await runTurn(chat.send({ text, images }, generation), { terminal, isJson, loadMs, pictureNames })
    return context.interrupts.exitCode ?? EXIT.done
  }
  if (route === 'remote') return answer(await openRoute(route, options, undefined, context, terminal), 0)
  return withModel(context, terminal, { model: options.model, ...loadOptionsOf(options) }, async (model) => {
    if (hasIdleSampling(options, model.defaults)) terminal.note(terminal.messages.samplingIsOff)
    const { loadMs } = model.info
    return answer(
      route === 'auto' ? await openRoute(route, options, model, context, terminal) : model,
      loadMs,
    )
  })
}
