/** A conversation that is kept in a file: `--resume` reads it at the start, `--save` writes it after each answer. */
import { stat } from 'node:fs/promises'
import type { Chat, ChatTurn, Model } from '../engine/types.ts'
import { createPendingFileHost } from '../host/node/pending-file.ts'
import { EngineError } from '../shared/errors.ts'
import { type AnswerOptions, chatOptionsOf } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { findFile } from './pictures.ts'
import type { Terminal } from './terminal.ts'

export interface SnapshotPaths {
  readonly save?: string
  readonly resume?: string
}

/** Finds out before a model is loaded. Throws `option/resume` or `file/…`. */
export async function checkSnapshotPaths(
  { save, resume }: SnapshotPaths,
  { system }: AnswerOptions,
): Promise<void> {
  if (save !== undefined) await createPendingFileHost().inspectTarget(save)
  if (resume === undefined) return
  if (system !== undefined) {
    throw new EngineError('option/resume', {
      message:
        'A conversation that goes on keeps its system prompt: expected --system or --resume, found both.',
    })
  }
  await findFile(resume)
}

/**
 * The conversation of the file. One that another model or version wrote, or whose long part is damaged, is begun from what
 * was said in it.
 */
export async function openChat(
  model: Model,
  options: AnswerOptions & SnapshotPaths,
  terminal: Terminal,
  context: CommandContext,
): Promise<Chat> {
  const { resume } = options
  if (resume === undefined) return model.chat(chatOptionsOf(options))
  const { signal } = context.interrupts
  try {
    const chat = await model.restore(resume, { signal })
    terminal.note(terminal.messages.resumed(questionsOf(chat.turns)))
    return chat
  } catch (error) {
    if (!EngineError.isInstance(error) || !error.code.startsWith('snapshot/')) throw error
    const { readSnapshotText } = await context.loadEngine()
    const { turns, missingImages } = await readSnapshotText(resume)
    const { found, lost } = await withoutLostPictures(turns, model.info.takesImages)
    terminal.note(error.message)
    terminal.note(terminal.messages.resumedFromText(questionsOf(turns), missingImages + lost))
    return model.chat({ ...chatOptionsOf(options), messages: found })
  }
}

function questionsOf(turns: readonly { readonly role: string }[]): number {
  return turns.filter(({ role }) => role === 'user').length
}

/** Pictures that are still where they were. */
async function withoutLostPictures(
  turns: readonly ChatTurn[],
  takesImages: boolean,
): Promise<{ found: ChatTurn[]; lost: number }> {
  let lost = 0
  const found: ChatTurn[] = []
  for (const turn of turns) {
    if (turn.role !== 'user' || turn.images === undefined) {
      found.push(turn)
      continue
    }
    const { images, imageOffsets = [], ...rest } = turn
    const isThere = await Promise.all(images.map((path) => takesImages && isFile(String(path))))
    lost += isThere.filter((is) => !is).length
    found.push({
      ...rest,
      images: images.filter((_, index) => isThere[index]),
      imageOffsets: imageOffsets.filter((_, index) => isThere[index]),
    })
  }
  return { found, lost }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
