/** One message and its answer: progress on standard error, the answer on standard output. */
import type { AnswerFinished, ChatEvent, ChoiceProbability, FinishReason } from '../engine/types.ts'
import type { Terminal } from './terminal.ts'
import { type ContextTrimmed, describeTurn } from './turn-json.ts'

export interface TurnSettings {
  readonly terminal: Terminal
  readonly isJson: boolean
  readonly loadMs: number
  /** What to call the pictures of this message, in order. */
  readonly pictureNames: readonly string[]
}

/** @throws What `events` throw; the line of an answer that had begun is ended first. */
export async function runTurn(events: AsyncIterable<ChatEvent>, settings: TurnSettings): Promise<void> {
  const { terminal, isJson, pictureNames } = settings
  const { messages, progress } = terminal
  const trimmed: ContextTrimmed[] = []
  let hasOpenLine = false
  try {
    for await (const event of events) {
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
        case 'context-trimmed':
          // In the middle of an answer a note would stand between its words.
          trimmed.push(event)
          break
        case 'answer-finished':
          progress.clear()
          if (isJson) terminal.json(describeTurn(event, settings.loadMs, trimmed))
          else if (hasOpenLine || event.text === '') terminal.answer('\n')
          hasOpenLine = false
          for (const one of trimmed) noteTrimmed(terminal, one)
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

function noteTrimmed(terminal: Terminal, { droppedTurns, droppedImages, summary }: ContextTrimmed): void {
  terminal.note(terminal.messages.contextTrimmed(droppedTurns.length, droppedImages))
  if (summary !== undefined) terminal.note(terminal.messages.contextSummary(summary))
}

function noteEnd(terminal: Terminal, { finishReason, usage, choices }: AnswerFinished): void {
  const { messages } = terminal
  if (choices) terminal.note(choices.map(describeChoice).join(', '))
  const notes: Readonly<Partial<Record<FinishReason, string>>> = {
    length: messages.stoppedByLength(usage.completionTokens),
    repetition: messages.stoppedByRepetition,
    'context-full': messages.contextFull,
  }
  const note = notes[finishReason]
  if (note !== undefined) terminal.note(note)
}

function describeChoice({ text, probability }: ChoiceProbability): string {
  return `${text} ${(probability * 100).toFixed(1)}%`
}
