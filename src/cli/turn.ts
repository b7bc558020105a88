/** One message and its answer: progress on standard error, the answer on standard output. */
import type { AnswerFinished, Chat, FinishReason, GenerationOptions, UserMessage } from '../engine/types.ts'
import type { Terminal } from './terminal.ts'
import { describeTurn } from './turn-json.ts'

export interface TurnSettings {
  readonly terminal: Terminal
  readonly isJson: boolean
  readonly loadMs: number
  readonly generation: GenerationOptions
  /** What to call the pictures of this message, in order. */
  readonly pictureNames: readonly string[]
}

/** @throws What `chat.send` throws; the line of an answer that had begun is ended first. */
export async function runTurn(chat: Chat, message: UserMessage, settings: TurnSettings): Promise<void> {
  const { terminal, isJson, pictureNames } = settings
  const { messages, progress } = terminal
  let hasOpenLine = false
  try {
    for await (const event of chat.send(message, settings.generation)) {
      switch (event.type) {
        case 'image-progressed':
          progress.show(messages.readingPicture(event.image + 1), event.frame, event.frames)
          break
        case 'image-encoded':
          if (terminal.showsProgress) {
            const { width, height, usedWidth, usedHeight, tiles, detail } = event.report
            const name = pictureNames[event.image] ?? `#${event.image + 1}`
            terminal.note(
              messages.sawPicture(name, `${width}x${height}`, `${usedWidth}x${usedHeight}`, tiles, detail),
            )
          }
          break
        case 'prompt-progressed':
          progress.show(messages.readingPrompt, event.tokens, event.totalTokens)
          break
        case 'text-delta':
          progress.clear()
          if (!isJson && event.text !== '') {
            terminal.answer(event.text)
            hasOpenLine = !event.text.endsWith('\n')
          }
          break
        case 'token-scored': // no option of the command asks for scores
          break
        case 'route-chosen':
          if (event.answeredBy.route === 'remote') {
            terminal.note(messages.sentTo(event.answeredBy.host ?? '', event.answeredBy.model, event.reason))
          }
          break
        case 'answer-finished':
          progress.clear()
          if (isJson) terminal.json(describeTurn(event, settings.loadMs))
          else if (hasOpenLine || event.text === '') terminal.answer('\n')
          hasOpenLine = false
          noteEnd(terminal, event)
          break
        default:
          event satisfies never
      }
    }
  } finally {
    progress.clear()
    if (hasOpenLine) terminal.answer('\n')
  }
}

function noteEnd(terminal: Terminal, { finishReason, usage }: AnswerFinished): void {
  const { messages } = terminal
  const notes: Readonly<Partial<Record<FinishReason, string>>> = {
    length: messages.stoppedByLength(usage.completionTokens),
    repetition: messages.stoppedByRepetition,
    'context-full': messages.contextFull,
  }
  const note = notes[finishReason]
  if (note !== undefined) terminal.note(note)
}
